#!/usr/bin/env python3
"""Downloads from a local hub that misbehaves in every way that is known of hubs, and looks at what is left behind.

    hub_test.py PROGRAM [EMULATOR ...] [-k WORD]

The hub is hub_fixture.py. After every failure the same command must go on, and nothing may count as a model before it is
whole. Ends with one line "N passed, N failed".
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import cli_test
import tiny_model
from cli_test import Skip, check, check_failure, check_fine
from hub_fixture import Change, Cut, Drip, HubFixture, NoRange, Status, WrongRange

REPO = "owner/tiny"


class Hub:
    """The program with a store of its own, and a hub that has a tiny model."""

    def __init__(self, cli):
        self.cli = cli
        self.number = 0

    def fresh(self, fixture):
        """A new store; `self.env` points to it and to the hub."""
        self.number += 1
        self.home = self.cli.folder / f"hub-{self.number}-{time.monotonic_ns()}"
        self.home.mkdir()
        self.store = self.home / "cache"
        self.env = {k: v for k, v in self.cli.env.items() if not k.startswith(("HF_", "HUGGING")) and "proxy" not in k.lower()}
        shared = pathlib.Path(self.cli.env.get("MLXCEL_CACHE_DIR") or pathlib.Path.home() / ".cache/mlxcel")
        self.env.update(MLXCEL_WINE_DIR=str(shared / "wine"), MLXCEL_CACHE_DIR=self.cli.path(self.store), HF_HOME=self.cli.path(self.home / "hf"),
                        HF_ENDPOINT=fixture.url)
        fixture.add(REPO, self.files())
        self.fixture = fixture

    def files(self):
        files = {p.name: p.read_bytes() for p in sorted(self.cli.model.iterdir())}
        return {**files, "README.md": b"# tiny", "extra/notes.json": b"{}"}

    def run(self, *args, env=None, **more):
        done = subprocess.run([*self.cli.command, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, env={**self.env, **(env or {})}, **more)
        return cli_test.Done(done.returncode, done.stdout, done.stderr)

    def start(self, *args):
        return subprocess.Popen([*self.cli.command, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=self.env)

    def download(self, *args, name=REPO, **more):
        return self.run("download", name, "-q", *args, **more)

    def model_dir(self):
        return self.store / "models" / REPO / self.fixture.commit(REPO)

    def check_whole(self):
        """What lies there is what the hub has, and is usable."""
        folder = self.model_dir()
        wanted = {n: d for n, d in self.fixture.repos[REPO].items() if n not in ("README.md", "extra/notes.json")}
        found = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        manifest = json.loads(found.pop(".mlxcel.json"))
        check(found == wanted, sorted(found), sorted(wanted))
        check(sorted(f["name"] for f in manifest["files"]) == sorted(wanted))
        check(not list((self.store / "models").rglob("*.part")), "a .part is left")
        check_fine(self.run("generate", "-m", REPO, "-p", "a", "-n", "2", "--offline"))

    def check_none(self):
        """Nothing counts as a model."""
        listed = json.loads(check_fine(self.run("list", "--json")).out)
        check(not any(m["complete"] for m in listed), listed)
        done = self.run("generate", "-m", REPO, "-p", "a", "-n", "1", "--offline")
        check(done.code == 1 and "is not on this machine" in done.err, done.code, done.err)


def weights(hub):
    return hub.fixture.repos[REPO]["model.safetensors"]


# ---- what works


def a_model_comes_whole_and_is_used_by_name(hub):
    done = check_fine(hub.run("download", REPO))
    check(done.out.strip().replace("\\", "/").endswith(f"models/{REPO}/{hub.fixture.commit(REPO)}"), done.out)
    check("downloading owner/tiny: 4 files" in done.err and "downloaded owner/tiny" in done.err, done.err)
    hub.check_whole()
    asked = len(hub.fixture.requests)
    check_fine(hub.run("tokenize", "-m", REPO, "-p", "a"))
    check(len(hub.fixture.requests) == asked, "a model that is here was asked for")
    check("up to date" in check_fine(hub.run("download", REPO)).err)
    check(len(hub.fixture.requests) == asked + 1, "only the list is asked for")


def generate_downloads_what_is_missing(hub):
    done = check_fine(hub.run("generate", "-m", REPO, "-p", "a", "-n", "2"))
    check("downloaded owner/tiny" in done.err, done.err)
    hub.check_whole()


def bare_names_are_those_of_mlx_community(hub):
    hub.fixture.add("mlx-community/tiny", hub.files())
    check_fine(hub.download(name="tiny"))
    check((hub.store / "models/mlx-community/tiny").is_dir())


def revisions_do_not_mix(hub):
    check_fine(hub.download(name=REPO + "@v1"))
    old = hub.fixture.commit(REPO)
    hub.fixture.repos[REPO]["config.json"] = hub.fixture.repos[REPO]["config.json"].replace(b"0.00001", b"0.00002") + b" "
    check_fine(hub.download())
    new = hub.fixture.commit(REPO)
    check(old != new)
    names = sorted(p.name for p in (hub.store / "models" / REPO).iterdir())
    check(names == sorted([old, new, "refs"]), names)
    hub.check_whole()
    check_fine(hub.run("tokenize", "-m", REPO + "@" + old, "-p", "a", "--offline"))
    check_fine(hub.run("tokenize", "-m", REPO + "@v1", "-p", "a", "--offline"))
    check_failure(hub.download(name=REPO + "@v9"), 1, 'has no revision "v9"')


def list_and_rm_know_the_store(hub):
    check(check_fine(hub.run("list", "-q")).out == "")
    check_fine(hub.download())
    check(check_fine(hub.run("list", "-q")).out.split() == [REPO])
    (model,) = json.loads(check_fine(hub.run("list", "--json")).out)
    check(model["name"] == REPO and model["complete"] and model["revision"] == "main" and model["bytes"] > 1000, model)
    check("owner/tiny" in check_fine(hub.run("list")).out)
    check_failure(hub.run("rm", REPO), 2, "--yes")
    check_failure(hub.run("rm", "owner/tinny", "--yes"), 1, "did you mean owner/tiny?")
    check_failure(hub.run("rm", hub.cli.path(hub.model_dir()), "--yes"), 2, "is a path")
    check_fine(hub.run("rm", REPO, "--yes"))
    check(not (hub.store / "models/owner").exists())
    check_failure(hub.run("generate", "-m", "owner/tinny", "-p", "a", "--offline"), 1, "is not on this machine")


def a_name_that_is_nearly_right_gets_a_suggestion(hub):
    check_fine(hub.download())
    check_failure(hub.run("generate", "-m", "owner/tinny", "-p", "a"), 1, "there is no model owner/tinny",
                  "did you mean owner/tiny")


def off_line_asks_nothing(hub):
    for args, env in ((("--offline",), {}), ((), {"HF_HUB_OFFLINE": "1"})):
        done = hub.run("generate", "-m", REPO, "-p", "a", *args, env=env)
        check_failure(done, 1, "is not on this machine", "forbids")
        check_failure(hub.download(*args, env=env), 1, "forbids")
    check(not hub.fixture.requests)


def progress_comes_as_lines_of_json(hub):
    done = check_fine(hub.run("download", REPO, "--progress", "json"))
    events = [json.loads(line) for line in done.err.splitlines()]
    check([e["event"] for e in events][0] == "asking" and events[-1]["event"] == "done", events)
    check(events[-1]["bytes"] == events[-1]["total_bytes"] > 0 and len(events[-1]["files"]) == 4, events[-1])
    check_failure(hub.run("download", REPO, "--progress", "x"), 2, "plain")


# ---- interruptions


def every_cut_point_is_gone_on_from(hub):
    """A small file is cut at each byte, closed and reset; the bytes that came are not asked for again."""
    hub.fixture.add(REPO, {**hub.files(), "special_tokens_map.json": bytes(json.dumps({"a": "x" * 40}), "ascii")})
    size = len(hub.fixture.repos[REPO]["special_tokens_map.json"])
    step = 1 if hub.cli.is_native else 9
    for reset in (False, True):
        cuts = list(range(0, size, step))
        if reset:
            cuts = cuts[::5]
        hub.fixture.faults["special_tokens_map.json"] = [Cut(max(n - m, 0), reset) for m, n in zip([0, *cuts], cuts)]
        hub.fixture.requests.clear()
        check_fine(hub.download("--retries", "500", "--verify"))
        hub.check_whole()
        if not reset:
            starts = [r.headers.get("Range") for r in hub.fixture.asked("special_tokens_map.json")]
            check(f"bytes={cuts[-1]}-" in starts, starts)
        shutil.rmtree(hub.store / "models")


def each_cut_point_is_gone_on_from_by_another_process(hub):
    data = weights(hub)
    for n in (0, 1, 8, len(data) // 2, len(data) - 1):
        hub.fixture.faults["model.safetensors"] = [Cut(n)]
        check(hub.download("--retries", "0").code == 1)
        hub.check_none()
        hub.fixture.requests.clear()
        check_fine(hub.download())
        asked = hub.fixture.asked("/storage/owner/tiny/model.safetensors")
        check(asked[-1].headers.get("Range") == (f"bytes={n}-" if n else None), n, asked[-1])
        hub.check_whole()
        shutil.rmtree(hub.store / "models")


def a_reset_in_the_middle_is_tried_again(hub):
    hub.fixture.faults["model.safetensors"] = [Cut(5000, reset=True), Cut(100, reset=True), Cut(0, reset=True)]
    check_fine(hub.download())
    hub.check_whole()


def kill_9_leaves_what_can_be_gone_on_with(hub):
    if not hub.cli.is_native:
        raise Skip("the emulator would be killed, not the program")
    hub.fixture.faults["model.safetensors"] = [Drip(2000, 0.02)]
    process = hub.start("download", REPO)
    part = hub.store / "models" / REPO / (hub.fixture.commit(REPO) + ".part") / "model.safetensors.part"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (part.exists() and part.stat().st_size > 20000):
        time.sleep(0.01)
    process.kill()
    process.wait()
    size = part.stat().st_size
    check(20000 < size < len(weights(hub)), size)
    hub.check_none()
    hub.fixture.requests.clear()
    check_fine(hub.download())
    check(hub.fixture.asked("/storage/owner/tiny/model.safetensors")[-1].headers.get("Range") == f"bytes={size}-")
    check(len(hub.fixture.asked("tokenizer.json")) <= 1, "files that were whole are not fetched again")
    hub.check_whole()


def ctrl_c_says_how_to_go_on(hub):
    if not hub.cli.is_native:
        raise Skip("a process outside the emulator cannot send it a Ctrl-C")
    hub.fixture.faults["model.safetensors"] = [Drip(2000, 0.02)]
    process = hub.start("download", REPO)
    part = hub.store / "models" / REPO / (hub.fixture.commit(REPO) + ".part") / "model.safetensors.part"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (part.exists() and part.stat().st_size > 10000):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    check(process.returncode == 130 and b"the same command goes on" in err, process.returncode, err)
    hub.check_none()
    check_fine(hub.download())
    hub.check_whole()


def two_processes_share_the_work(hub):
    hub.fixture.faults["model.safetensors"] = [Drip(4000, 0.02)]
    first, second = hub.start("download", REPO), hub.start("download", REPO)
    outs = [p.communicate(timeout=60) for p in (first, second)]
    check(first.returncode == second.returncode == 0, outs)
    check(outs[0][0] == outs[1][0], "both print the folder")
    check(len(hub.fixture.asked("/storage/owner/tiny/model.safetensors")) == 1, "it was fetched twice")
    check(any(b"another process downloads" in err for _, err in outs), outs)
    hub.check_whole()


# ---- wrong bytes


def flip(data):
    return data[:len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1:]


def a_wrong_hash_is_fetched_once_more(hub):
    hub.fixture.faults["model.safetensors"] = [Change(flip)]
    check_fine(hub.download())
    hub.check_whole()


def a_hash_that_stays_wrong_is_refused(hub):
    hub.fixture.faults["model.safetensors"] = [Change(flip), Change(flip)]
    check_failure(hub.download(), 1, "model.safetensors", "SHA-256")
    hub.check_none()
    check_fine(hub.download())
    hub.check_whole()


def bytes_damaged_between_two_attempts_are_found(hub):
    hub.fixture.faults["model.safetensors"] = [Cut(5000)]
    check(hub.download("--retries", "0").code == 1)
    part = next(hub.store.rglob("model.safetensors.part"))
    part.write_bytes(flip(part.read_bytes()))
    check_fine(hub.download())
    hub.check_whole()


def a_wrong_length_is_refused(hub):
    for change in (lambda d: d + b"x", lambda d: d[:-1], lambda d: b""):
        for name in ("model.safetensors", "config.json"):
            hub.fixture.faults[name] = [Change(change)] * 30
            check_failure(hub.download("--retries", "1"), 1, name)
            hub.check_none()
            hub.fixture.faults[name] = []
            shutil.rmtree(hub.store / "models")
    check_fine(hub.download())
    hub.check_whole()


def a_damaged_model_is_named_and_mended(hub):
    check_fine(hub.download())
    path = hub.model_dir() / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    check_failure(hub.run("generate", "-m", REPO, "-p", "a", "--offline"), 1, "is here but not whole",
                  "model.safetensors")
    doctor = hub.run("doctor")
    check(doctor.code == 1 and "owner/tiny: " in doctor.out and "model.safetensors" in doctor.out, doctor.out)
    (damaged,) = json.loads(hub.run("doctor", "--json").out)["damaged_models"]
    check(damaged["name"] == REPO, damaged)
    check_fine(hub.download())
    hub.check_whole()
    check_fine(hub.run("doctor"))
    path.write_bytes(flip(path.read_bytes()))  # same length: only the hash tells
    check_fine(hub.download("--verify"))
    hub.check_whole()


def a_check_that_ends_early_leaves_the_model(hub):
    check_fine(hub.download())
    hub.fixture.requests.clear()
    check_fine(hub.download("--verify"))
    check(not hub.fixture.asked("/resolve/") and not hub.fixture.asked("/storage/"), "what is whole was fetched")
    hub.check_whole()
    hub.fixture.faults["api"] = [Status(500)]
    check(hub.download("--verify", "--retries", "0").code == 1)
    hub.check_whole()


def a_server_that_breaks_off_at_one_place_is_given_up(hub):
    hub.fixture.faults["model.safetensors"] = [Cut(5000), Status(416)] * 20
    check(hub.download("--retries", "3").code == 1)
    check(len(hub.fixture.asked("/storage/")) < 10, len(hub.fixture.asked("/storage/")))
    hub.check_none()
    hub.fixture.faults.clear()
    check_fine(hub.download())
    hub.check_whole()


def a_web_page_is_not_taken_for_a_file(hub):
    for name in ("config.json", "model.safetensors", "api"):
        hub.fixture.faults[name] = [Status(200, body=b"<html>please log in</html>", kind="text/html")]
        done = hub.download("--retries", "0")
        check(done.code == 1, done.err)
        check("web page" in done.err or "owner/tiny" in done.err, done.err)
        hub.check_none()
        shutil.rmtree(hub.store / "models", ignore_errors=True)
    check_fine(hub.download())
    hub.check_whole()


def servers_that_do_not_honour_ranges_are_started_over(hub):
    for fault in (NoRange(), WrongRange(), Status(416)):
        hub.fixture.faults["model.safetensors"] = [Cut(5000), fault]
        check_fine(hub.download())
        hub.check_whole()
        shutil.rmtree(hub.store / "models")


# ---- statuses


def errors_of_the_server_are_tried_again(hub):
    for status in (500, 502, 503, 429, 408):
        hub.fixture.faults = {"model.safetensors": [Status(status)], "config.json": [Status(status)],
                              "api": [Status(status)], "redirect": [Status(status)]}
        check_fine(hub.download())
        hub.check_whole()
        shutil.rmtree(hub.store / "models")
    hub.fixture.faults = {"model.safetensors": [Status(500)] * 9}
    check_failure(hub.download("--retries", "2"), 1, "500")
    hub.check_none()


def retry_after_is_honoured(hub):
    hub.fixture.faults["model.safetensors"] = [Status(429, retry_after=2)]
    start = time.monotonic()
    check_fine(hub.download())
    check(time.monotonic() - start > 1.8)
    hub.check_whole()


def a_slow_drip_is_waited_for(hub):
    hub.fixture.faults["model.safetensors"] = [Drip(8000, 0.05)]
    check_fine(hub.download())
    hub.check_whole()


def silence_ends_an_attempt(hub):
    hub.fixture.faults["model.safetensors"] = [Drip(5000, 4)]
    check_fine(hub.download(env={"HF_HUB_DOWNLOAD_TIMEOUT": "1"}))
    hub.check_whole()


def missing_and_closed_models_have_their_own_sentences(hub):
    check_failure(hub.download(name="owner/absent"), 1, "there is no model owner/absent")
    hub.fixture.missing_status = 401
    check_failure(hub.download(name="owner/absent"), 1, "no public model owner/absent", "HF_TOKEN")
    hub.fixture.faults["model.safetensors"] = [Status(404)]
    check_failure(hub.download(), 1, "owner/tiny is there, but not one of the files", "model.safetensors", "404")
    hub.fixture.faults["redirect"] = [Status(403, code="GatedRepo")]
    check_failure(hub.download(), 1, "owner/tiny is gated", "HF_TOKEN")
    hub.fixture.faults["redirect"] = [Status(403)]
    check_failure(hub.download(env={"HF_TOKEN": "hf_x"}), 1, "your token has no access")
    hub.fixture.faults["api"] = [Status(401)]
    check_failure(hub.download(env={"HF_TOKEN": "hf_x"}), 1, "this token")
    hub.check_none()
    check_fine(hub.download())


def the_token_goes_to_the_hub_alone(hub):
    hub.fixture.token = "hf_secret"
    check_failure(hub.download(), 1, "HF_TOKEN")
    token_file = hub.home / "hf"
    token_file.mkdir(exist_ok=True)
    (token_file / "token").write_text("hf_secret\n")
    for env in ({"HF_TOKEN": "hf_secret"}, {}, {"HF_TOKEN_PATH": hub.cli.path(token_file / "token")}):
        hub.fixture.requests.clear()
        check_fine(hub.download("--verify", env=env))
        for request in hub.fixture.requests:
            has = "hf_secret" in str(request.headers)
            check(has == (request.host == "localhost"), request)
        check(any(r.host == "127.0.0.1" for r in hub.fixture.requests), "nothing was redirected")
        hub.check_whole()
        shutil.rmtree(hub.store / "models")
    check_failure(hub.download(env={"HF_TOKEN": "a\r\nX-Evil: 1"}), 2, "HF_TOKEN")


def the_token_goes_over_no_plain_network(hub):
    with HubFixture() as proxy:
        env = {"HF_TOKEN": "hf_secret", "http_proxy": proxy.url, "no_proxy": ""}
        for endpoint in ("http://127.evil.test", "http://127.0.0.2", "http://localhost.evil.test", "http://localhost:x@evil.test",
                         "http://huggingface.test"):
            hub.download("--retries", "0", env={**env, "HF_ENDPOINT": endpoint})
        check(proxy.requests and not any("hf_secret" in str(r.headers) for r in proxy.requests), proxy.requests)
        n_before = len(proxy.requests)
        check_fine(hub.download("--retries", "0", env=env))  # to this machine, past the proxy
        check(len(proxy.requests) == n_before and any("hf_secret" in str(r.headers) for r in hub.fixture.requests))


def hostile_lists_are_refused(hub):
    def with_name(name):
        return Change(lambda siblings: [*siblings, {"rfilename": name, "size": 2}])
    for name in ("..\\evil.json", "C:evil.json", "nul.json", "CONFIG.JSON", "evil.json ", "a\x1b[2J.json",
                 ".mlxcel.json", "additional_chat_templates/con.jinja"):
        hub.fixture.faults["api"] = [with_name(name)]
        done = hub.download()
        check(done.code in (0, 1) and not list(hub.store.rglob("*evil*")), name)
        if done.code == 0:
            shutil.rmtree(hub.store / "models")  # a kind of file that is not wanted anyway
    for name in ("../evil.json", "/tmp/evil.json", "a/../../evil.json"):
        hub.fixture.faults["api"] = [with_name(name)]
        hub.download()
        check(not list(hub.home.rglob("*evil*")) and not pathlib.Path("/tmp/evil.json").exists(), name)
    check(not any("evil" in r.path for r in hub.fixture.requests), "asked for an unsafe name")


def repositories_without_weights_say_so(hub):
    hub.fixture.add("owner/gguf", {"model.Q4_0.gguf": b"GGUF", "config.json": b"{}"})
    hub.fixture.add("owner/bin", {"pytorch_model.bin": b"x", "config.json": b"{}"})
    check_failure(hub.download(name="owner/gguf"), 1, "GGUF")
    check_failure(hub.download(name="owner/bin"), 1, "no safetensors")


def a_stale_index_in_the_repository_does_no_harm(hub):
    hub.fixture.repos[REPO]["model.safetensors.index.json"] = json.dumps(
        {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}).encode()
    check_fine(hub.download())
    hub.check_whole()


# ---- disk, other caches, proxies


def mount_small(hub, n_bytes):
    if not hub.cli.is_native:
        raise Skip("needs a native POSIX program")
    hub.store.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", str(hub.store)],
                          stderr=subprocess.PIPE) if shutil.which("mount") else None
    if not done or done.returncode != 0:
        raise Skip("no tmpfs can be mounted here")


def a_disk_that_is_too_small_is_told_before_anything_comes(hub):
    mount_small(hub, 128 << 10)
    try:
        check_failure(hub.download(), 1, "MiB more", "free", "MLXCEL_CACHE_DIR")
        check(not hub.fixture.asked("resolve"))
        hub.check_none()
    finally:
        subprocess.run(["umount", str(hub.store)], check=True)


def a_disk_that_fills_up_on_the_way_is_told(hub):
    mount_small(hub, 1 << 20)
    try:
        hub.fixture.faults["model.safetensors"] = [Drip(20000, 0.05)]
        process = hub.start("download", REPO)
        time.sleep(0.4)
        ballast = hub.store / "ballast"
        try:
            with open(ballast, "wb") as file:
                while True:
                    file.write(b"x" * 4096)
                    file.flush()
        except OSError:
            pass
        _, err = process.communicate(timeout=60)
        check(process.returncode == 1 and b"No space left" in err, process.returncode, err)
        ballast.unlink()
        hub.check_none()
        check_fine(hub.download())
        hub.check_whole()
    finally:
        subprocess.run(["umount", str(hub.store)], check=True)


def the_cache_of_huggingface_hub_is_used_in_place(hub):
    python = os.environ.get("MLXCEL_TEST_PYTHON", sys.executable)
    script = f"from huggingface_hub import snapshot_download as d; print(d({REPO!r}))"
    env = {**hub.env, "HF_HOME": str(hub.home / "hf"), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    done = subprocess.run([python, "-c", script], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if "No module named 'huggingface_hub'" in done.stderr:
        raise Skip("the Python package huggingface_hub is not installed")
    check(done.returncode == 0, done.stderr[-2000:])
    hub.fixture.requests.clear()
    text = check_fine(hub.run("generate", "-m", REPO, "-p", "a", "-n", "3", "--temp", "0", "--offline")).out
    check(text == check_fine(hub.cli.generate("-p", "a", "-n", "3", "--temp", "0")).out)
    check(not hub.fixture.requests and not (hub.store / "models").exists())
    (model,) = json.loads(check_fine(hub.run("list", "--json")).out)
    check(model["place"] == "huggingface" and model["complete"], model)
    check_failure(hub.run("rm", REPO, "--yes"), 2, "Hugging Face cache")
    snapshot = pathlib.Path(done.stdout.strip())
    (snapshot / "model.safetensors").unlink()
    check_failure(hub.run("generate", "-m", REPO, "-p", "a", "--offline"), 1, "not whole", "safetensors")


def certificates_are_checked(hub):
    if not hub.cli.is_native or not shutil.which("openssl"):
        raise Skip("needs a native POSIX program, and openssl to make a certificate")
    files = [str(hub.home / name) for name in ("certificate.pem", "key.pem")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", files[0], "-keyout", files[1]],
                   stderr=subprocess.DEVNULL, check=True)
    with HubFixture(certificate=files) as fixture:
        fixture.add(REPO, hub.files())
        hub.fixture = fixture
        hub.env["HF_ENDPOINT"] = fixture.url
        check_failure(hub.download("--retries", "0"), 1, "certificate")
        check(not fixture.requests)
        fixture.redirect_scheme = "http"  # https must not be left
        done = hub.download("--retries", "0", env={"SSL_CERT_FILE": files[0]})
        check(done.code == 1 and not any(r.host == "127.0.0.1" for r in fixture.requests), done.err)
        fixture.redirect_scheme = None
        check_fine(hub.download(env={"SSL_CERT_FILE": files[0]}))
        hub.check_whole()


def proxies_are_asked(hub):
    with HubFixture() as proxy:
        done = hub.download("--retries", "0", env={"http_proxy": proxy.url, "no_proxy": ""})
        check(done.code == 1 and proxy.requests and not hub.fixture.requests, done.err)
        check(proxy.requests[0].path.startswith("http://localhost"), proxy.requests[0])
    check_fine(hub.download(env={"http_proxy": "http://localhost:1", "no_proxy": "localhost,127.0.0.1"}))


def folders_with_every_kind_of_name_work(hub):
    for name in ("mit Leerzeichen", "Größe", "模型", "модели", "\U0001f600", "x" * 120 + "/" + "y" * 120):
        folder = hub.home / name
        env = {"MLXCEL_CACHE_DIR": hub.cli.path(folder)}
        hub.store = folder
        hub.env.update(env)
        check_fine(hub.download())
        hub.check_whole()


def a_hub_that_is_not_there_is_told(hub):
    check_failure(hub.download("--retries", "0", env={"HF_ENDPOINT": "http://localhost:1"}), 1, "localhost")
    check_failure(hub.download(env={"HF_ENDPOINT": "ftp://x"}), 2, "HF_ENDPOINT")


TESTS = [test for name, test in list(globals().items())
         if callable(test) and getattr(test, "__code__", None) and test.__code__.co_varnames[:1] == ("hub",)
         and test.__code__.co_argcount == 1 and test is not weights]


def with_hub(test):
    def run(cli):
        hub = Hub(cli)
        with HubFixture() as fixture:
            hub.fresh(fixture)
            test(hub)
    run.__name__ = test.__name__
    return run


if __name__ == "__main__":
    cli_test.main([with_hub(test) for test in TESTS])
