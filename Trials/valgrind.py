"""What valgrind counts in `httpcache serve`: all threads, without the kernel."""
import os, re, subprocess, tempfile, threading

# The options of valgrind, and what it prints at the end.
INSTRUCTIONS = (["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"], r"I +refs: +([\d,]+)")
# Without checks of values memcheck takes less time.
ALLOCATIONS = (
    ["--tool=memcheck", "--undef-value-errors=no", "--leak-check=no"], r"total heap usage: ([\d,]+) allocs")


def stripped(program, folder):
    """A copy of the program that valgrind can run: valgrind 3.19 stops at debugging information of version 5."""
    copy = f"{folder}/stripped"
    subprocess.run(["strip", "--strip-debug", "-o", copy, program], check=True)
    return copy


def counted(what, program, upstream, options, load):
    """The count of a fresh server with an empty directory, from its start to its end. `load` gets its port."""
    arguments, pattern = what
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            ["valgrind", *arguments, f"--log-file={folder}/log", program, "serve", "--upstream", upstream,
             "--listen", "127.0.0.1:0", "--dir", f"{folder}/cache", "--access-log", "none", *options],
            # Otherwise the places in hash tables, and with them the counts, differ from run to run.
            env=os.environ | {"SWIFT_DETERMINISTIC_HASHING": "1"}, stderr=subprocess.PIPE, text=True)
        try:
            port, said = None, ""
            while port is None:
                line = server.stderr.readline()
                said += line
                if not line:
                    raise RuntimeError(f"serve did not start: {said}")
                if "listening on" in line:
                    port = int(line.rsplit(":", 1)[1])
            threading.Thread(target=server.stderr.read, daemon=True).start()
            load(port)
        finally:
            server.terminate()
            status = server.wait()
        if status != 0:
            raise RuntimeError(f"serve ended with {status}")
        with open(f"{folder}/log") as file:
            return int(re.search(pattern, file.read())[1].replace(",", ""))
