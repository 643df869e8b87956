"""Counts what holds and what does not."""
passed = failed = 0
# What stands for folders that are others each time.
names = {}


def check(name, good, detail=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        detail = str(detail)
        for folder, text in names.items():
            detail = detail.replace(folder, text)
        print(f"FAIL {name} {detail[:700]}", flush=True)
    return good
