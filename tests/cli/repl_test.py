#!/usr/bin/env python3
"""Chats with `mlxcel run` through a pseudo-terminal, as a person at a keyboard does.

    repl_test.py PROGRAM [EMULATOR ...] [-k WORD]

Needs a POSIX system, for its pseudo-terminals. Ends with one line "N passed, N failed".
"""
import json
import os
import re
import select
import signal
import struct
import sys
import time

import cli_test
from cli_test import Skip, check, check_fine

PROMPT = "\n\r>>> "  # at the start of a line; the editor draws it again with every key
LIMIT_S = 60


class Terminal:
    """The program in a terminal of 80 columns."""

    def __init__(self, cli, *args, env=None):
        if os.name != "posix":
            raise Skip("there are no pseudo-terminals here")
        if cli.is_wine:
            raise Skip("Wine's console draws in its own way")
        import fcntl
        import pty
        import termios
        self.text, self.status = "", None
        environment = {**cli.env, "TERM": "xterm-256color", "MLXCEL_CACHE_DIR": cli.path(cli.folder / "cache"), **(env or {})}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(cli.command[0], [*cli.command, "run", cli.path(cli.model), *map(str, args)], environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        if self.status is None:  # only a process of ours that has not been waited for: its number is still its own
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def read_some(self, timeout):
        if not select.select([self.fd], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the other end is closed
            data = b""
        self.text += data.decode("utf-8", errors="replace")
        return bool(data)

    def wait_for(self, piece, limit=LIMIT_S):
        """Reads until the piece is there; gives what came, without escape sequences, and forgets it."""
        deadline = time.monotonic() + limit
        while True:
            plain = re.sub(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[=>])", "", self.text)
            if piece in plain:
                self.text = ""
                return plain
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"{piece!r} did not come in {limit} s: {plain[-1500:]!r}")
            if not self.read_some(min(left, 1)) and self.is_over(wait=False):
                raise AssertionError(f"ended without {piece!r}: {plain[-1500:]!r}")

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def ask(self, line):
        """Types a line and gives what is written until the next prompt."""
        self.type(line + "\r")
        return self.wait_for(PROMPT)

    def is_over(self, wait=True):
        deadline = time.monotonic() + (LIMIT_S if wait else 0)
        while True:
            if self.status is not None:
                return True
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid == self.pid:
                self.status = os.waitstatus_to_exitcode(status)
                return True
            if time.monotonic() >= deadline:
                return False
            self.read_some(0.05)


def a_chat_answers_and_ends(cli):
    with Terminal(cli, "-n", 12, "--seed", 1) as t:
        t.wait_for(PROMPT)
        answer = t.ask("hello")
        check("generation: 12 tokens" in answer and "-n reached" in answer, answer)
        check("there is no command /nothing" in t.ask("/nothing"))
        check("/regenerate" in t.ask("/help"))
        t.type("/bye\r")
        check(t.is_over() and t.status == 0)


def ctrl_d_ends_the_chat(cli):
    with Terminal(cli) as t:
        t.wait_for(PROMPT)
        t.type("\x04")
        check(t.is_over() and t.status == 0)


def the_whole_conversation_is_the_prompt(cli):
    """Saved to a file: what was said and answered, in order; cleared, loaded, and made again."""
    path, again = cli.folder / "chat.json", cli.folder / "again.json"
    with Terminal(cli, "-n", 6, "--seed", 3, "--system", "be brief") as t:
        t.wait_for(PROMPT)
        t.ask("one")
        t.ask("zwei \u00fc \u4e16")
        t.ask(f"/save {cli.path(path)}")
        messages = json.loads(path.read_text("utf-8"))
        check([m["role"] for m in messages] == ["system", "user", "assistant", "user", "assistant"], messages)
        check(messages[1]["content"] == "one" and messages[3]["content"] == "zwei \u00fc \u4e16", messages)
        t.ask("/regenerate")
        t.ask(f"/save {cli.path(again)}")
        check(json.loads(again.read_text("utf-8")) == messages, "the same seed, another answer")
        t.ask("/clear")
        t.ask(f"/save {cli.path(again)}")
        check([m["role"] for m in json.loads(again.read_text("utf-8"))] == ["system"])
        check("loaded 5 messages" in t.ask(f"/load {cli.path(path)}"))
        t.ask("/system")
        t.ask(f"/save {cli.path(again)}")
        check(len(json.loads(again.read_text("utf-8"))) == 4)
        check("no such file" in t.ask("/load /nowhere/at/all").lower())


def settings_are_changed_and_shown(cli):
    with Terminal(cli, "-n", 4) as t:
        t.wait_for(PROMPT)
        t.ask("/set temp 0")
        t.ask("/set top-k 7")
        shown = t.ask("/show")
        check("temp 0, top-k 7" in shown and "family llama" in shown, shown)
        check("no setting" in t.ask("/set temp warm"))
        check("no setting" in t.ask("/set colour 3"))
        check("/set NAME VALUE" in t.ask("/set"))


def the_line_can_be_edited_and_history_comes_back(cli):
    path = cli.folder / "edited.json"
    with Terminal(cli, "-n", 2) as t:
        t.wait_for(PROMPT)
        t.ask("helo\x1b[Dl\x05 there")
        t.type("\x1b[A")
        t.wait_for("hello there")
        t.ask("!")
        t.ask(f"/save {cli.path(path)}")
        users = [m["content"] for m in json.loads(path.read_text("utf-8")) if m["role"] == "user"]
        check(users == ["hello there", "hello there!"], users)
        t.type("/bye\r")
        check(t.is_over())
    history = cli.folder / "cache" / "history"
    check(history.stat().st_mode & 0o077 == 0, "others can read what was asked")
    with Terminal(cli, "-n", 2) as t:
        t.wait_for(PROMPT)
        t.type("\x1b[A\x1b[A\x1b[A")
        t.wait_for("hello there!")


def messages_may_have_several_lines(cli):
    path = cli.folder / "lines.json"
    with Terminal(cli, "-n", 2) as t:
        t.wait_for(PROMPT)
        t.type('"""one\r')
        t.wait_for("... ")
        t.ask('two"""')
        t.type("three\\\r")
        t.wait_for("... ")
        t.ask("four")
        t.ask("five\x1b\rsix")
        t.ask("\x1b[200~seven\reight\x1b[201~")
        t.ask(f"/save {cli.path(path)}")
        users = [m["content"] for m in json.loads(path.read_text("utf-8")) if m["role"] == "user"]
        check(users == ["one\ntwo", "three\nfour", "five\nsix", "seven\neight"], users)


def ctrl_c_stops_the_answer_and_not_the_program(cli):
    with Terminal(cli, "--temp", 1.5) as t:
        t.wait_for(PROMPT)
        for _ in range(2):
            t.type("hello\r")
            deadline = time.monotonic() + LIMIT_S
            while len(t.text) < 200 and time.monotonic() < deadline:
                t.read_some(0.1)
            t.type("\x03")
            check("interrupted" in t.wait_for(PROMPT))
        t.type("half a line\x03")
        check("Ctrl-D ends" in t.wait_for("ends)"))
        t.type("/bye\r")
        check(t.is_over() and t.status == 0)


def thinking_is_hidden_unless_asked_for(cli):
    config = json.loads((cli.model / "tokenizer_config.json").read_text())
    config["chat_template"] += "{% if add_generation_prompt %}<think>{% endif %}"
    (cli.model / "tokenizer_config.json").write_text(json.dumps(config))
    with Terminal(cli, "-n", 20, "--seed", 1) as t:
        t.wait_for(PROMPT)
        hidden = t.ask("hello").split("prompt:")[0]
        t.ask("/set reasoning on")
        t.ask("/clear")
        shown = t.ask("hello").split("prompt:")[0]
        check(len(shown) > len(hidden) + 8, hidden, shown)


def piped_text_is_answered_once(cli):
    done = check_fine(cli("run", cli.path(cli.model), "-n", "5", stdin="grüße\n".encode()))
    check(done.out.endswith("\n") and "generation: 5 tokens" in done.err and "\x1b" not in done.out + done.err, done.err)
    done = check_fine(cli("run", cli.path(cli.model), "-n", "5", "-p", "hello"))
    check("generation: 5 tokens" in done.err, done.err)
    check(cli("run", cli.path(cli.model), "b").code == 2)


TESTS = [value for value in list(globals().values())
         if callable(value) and getattr(value, "__code__", None) and value.__code__.co_varnames[:1] == ("cli",)
         and value.__code__.co_argcount == 1]

if __name__ == "__main__":
    cli_test.main(TESTS)
