"""Hosts on one switch, each a network namespace of Linux, and cuts between them that neither side is told of."""
import contextlib, ctypes, os, shutil, subprocess, threading

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000


def run(*words):
    subprocess.run(words, check=True, capture_output=True)


def are_possible():
    """Whether this process may make network namespaces with a bridge between them."""
    name = f"hc{os.getpid() % 100_000}"
    if os.geteuid() != 0 or not shutil.which("ip"):
        return False
    try:
        run("ip", "netns", "add", name)
    except subprocess.CalledProcessError:
        return False
    try:
        run("ip", "netns", "exec", name, "ip", "link", "add", "switch", "type", "bridge")
        return True
    except subprocess.CalledProcessError:
        return False
    finally:
        run("ip", "netns", "del", name)


class Host:
    """A network namespace with the address 10.77.0.NUMBER on the switch, and a loopback device of its own."""

    def __init__(self, prefix, number):
        self.name, self.address, self.mac = f"{prefix}h{number}", f"10.77.0.{number}", f"02:00:00:77:00:{number:02x}"
        run("ip", "netns", "add", self.name)
        self.ip("link", "set", "lo", "up")
        with open(f"/var/run/netns/{self.name}") as file:
            self.descriptor = os.dup(file.fileno())

    def ip(self, *words):
        run("ip", "netns", "exec", self.name, "ip", *words)

    @property
    def prefix(self):
        """The words before a command that runs on this host."""
        return ["ip", "netns", "exec", self.name]

    @contextlib.contextmanager
    def entered(self):
        """Sockets that this thread makes inside are those of the host."""
        home = os.open(f"/proc/self/task/{threading.get_native_id()}/ns/net", os.O_RDONLY)
        try:
            self._enter(self.descriptor)
            try:
                yield
            finally:
                self._enter(home)
        finally:
            os.close(home)

    @staticmethod
    def _enter(descriptor):
        if LIBC.setns(descriptor, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


class Hosts:
    """Some hosts and the switch, in a namespace of its own, that connects them."""

    def __init__(self, count):
        self.prefix = f"hc{os.getpid() % 100_000}"
        self.switch = self.prefix + "sw"
        self.all = []
        run("ip", "netns", "add", self.switch)
        try:
            run("ip", "netns", "exec", self.switch, "ip", "link", "add", "switch", "type", "bridge")
            run("ip", "netns", "exec", self.switch, "ip", "link", "set", "switch", "up")
            for number in range(1, count + 1):
                self._add(Host(self.prefix, number))
            for host in self.all:
                for other in self.all:
                    if other is not host:
                        self._neighbor(host, other, other.mac)
        except BaseException:
            self.end()
            raise

    def _add(self, host):
        self.all.append(host)
        port = "p" + host.name
        run("ip", "-n", self.switch, "link", "add", port, "type", "veth", "peer", "name", "eth0",
            "address", host.mac, "netns", host.name)
        run("ip", "-n", self.switch, "link", "set", port, "master", "switch", "up")
        host.ip("addr", "add", host.address + "/24", "dev", "eth0")
        host.ip("link", "set", "eth0", "up")

    @staticmethod
    def _neighbor(host, other, mac):
        host.ip("neigh", "replace", other.address, "lladdr", mac, "dev", "eth0", "nud", "permanent")

    def cut(self, some, others):
        """From here on no packet goes between them. They are sent to a hardware address that no host has, so that
        neither side gets an error: no reset, no end, nothing unreachable."""
        for host, other in [(a, b) for a in some for b in others]:
            self._neighbor(host, other, "02:00:00:77:00:ff")
            self._neighbor(other, host, "02:00:00:77:00:ff")

    def heal(self, some, others):
        for host, other in [(a, b) for a in some for b in others]:
            self._neighbor(host, other, other.mac)
            self._neighbor(other, host, host.mac)

    def end(self):
        for host in self.all:
            os.close(host.descriptor)
            subprocess.run(["ip", "netns", "del", host.name], capture_output=True)
        subprocess.run(["ip", "netns", "del", self.switch], capture_output=True)
