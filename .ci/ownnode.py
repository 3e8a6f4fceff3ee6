"""What our programs in Python share: packages and a node of their own, under out/."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent


def install(out, packages):
    """Installs PyPI's packages under out, and returns how to run a module there."""
    venv, bare = out / "venv", out / "site-packages"
    python, flags, env = str(venv / "bin/python"), [], os.environ | {"PYTHONPATH": str(ROOT / ".ci"), "PYTHONDONTWRITEBYTECODE": "1"}
    out.mkdir(parents=True, exist_ok=True)
    if not (venv / "bin/python").exists() and not bare.exists():
        if subprocess.run([sys.executable, "-m", "venv", venv], stdout=subprocess.DEVNULL).returncode != 0:
            shutil.rmtree(venv, ignore_errors=True)
            bare.mkdir(parents=True)  # Debian without python3-venv; pip alone will do
    if bare.exists():
        python, flags = sys.executable, ["--target", str(bare)]
        env["PYTHONPATH"] += os.pathsep + str(bare)
    marker = (bare if bare.exists() else venv) / "installed"
    if not marker.exists() or marker.read_text() != " ".join(packages):
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--upgrade", *flags, *packages], check=True)
        marker.write_text(" ".join(packages))

    def run(*args, check=True, **more):
        return subprocess.run([python, *map(str, args)], check=check, env={**env, **more}, cwd=out).returncode
    return run


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def node(out, **knobs):
    """A node of its own with a payment simulator, new each time, while the block runs.
    Yields its address; audits what it has done at the end."""
    shutil.rmtree(out / "data", ignore_errors=True)
    url, log = f"http://127.0.0.1:{free_port()}", out / "node.log"
    env = {name: value for name, value in os.environ.items() if not name.startswith("BOXOFFICE_")} | {
        "BOXOFFICE_DATA_DIR": str(out / "data"), "BOXOFFICE_LISTEN": url.removeprefix("http://"), "BOXOFFICE_DEMO": "false",
        "BOXOFFICE_PAYSIM_LISTEN": f"127.0.0.1:{free_port()}", "BOXOFFICE_LIMITS_SCALE": "1000", **knobs,
    }
    with open(log, "wb") as to:
        process = subprocess.Popen([ROOT / "bin/boxoffice"], env=env, stdout=to, stderr=to)
        try:
            wait(url, process, log)
            yield url
            if process.poll() is not None:
                sys.exit(f"the node ended; see {log}")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
    subprocess.run([ROOT / "bin/boxoffice", "audit"], env=env, check=True)


def wait(url, process, log):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url + "/readyz").close()
            return
        time.sleep(0.1)
    sys.exit(f"the node does not start; see {log}")
