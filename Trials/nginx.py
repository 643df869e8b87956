"""nginx as the origin of trials and benchmarks, on loopback."""

NGINX = """daemon off; worker_processes 1; pid {name}.pid; error_log {name}.err warn; worker_rlimit_nofile 32768;
events {{ worker_connections 8192; }}
http {{ access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 100000000;
 client_body_temp_path {name}1; proxy_temp_path {name}2; fastcgi_temp_path {name}3; uwsgi_temp_path {name}4;
 scgi_temp_path {name}5;
 {servers} }}
"""
ORIGIN = """server {{ listen 127.0.0.1:{port} backlog=4096; root www; open_file_cache max=1000;
 location / {{ add_header Cache-Control "max-age=3600"; }}
 location /no/ {{ alias {folder}/www/; add_header Cache-Control "no-store"; }} }}"""


def command(folder, name, servers):
    """The command of an nginx with these servers; its files are in the folder."""
    (folder / f"{name}.conf").write_text(NGINX.format(name=name, servers=servers))
    return ["nginx", "-c", f"{folder}/{name}.conf", "-p", str(folder)]


def origin(folder, port, sizes):
    """The command of an origin with a file for each name and size: fresh for an hour, and below /no/ not stored."""
    (folder / "www").mkdir()
    # The processes that answer have another user than root.
    for path in (folder, folder / "www"):
        path.chmod(0o755)
    for name, size in sizes.items():
        (folder / "www" / name).write_bytes(b"a" * size)
    return command(folder, "origin", ORIGIN.format(port=port, folder=folder))
