#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`llmir chat`: from a pipe, and through a pseudo-terminal.

    chat.py --llmir build/bin/llmir --work DIRECTORY --model models/demo

Answers are compared with those of `llmir run` for the same prompt.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import sys
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
SECONDS = 60
check = Checks()


class Terminal:
    """A command on a pseudo-terminal, whose output is read as it comes."""

    def __init__(self, arguments, environment):
        self.text = ""
        self.process, self.file = pty.fork()
        if self.process == 0:
            # Shells start background jobs, which tests may be, with this signal ignored.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execvpe(arguments[0], arguments, environment)

    def read(self, until, after=0, seconds=SECONDS):
        """-> the output up to and with a match of `until` that begins at `after` or later."""
        deadline = time.time() + seconds
        while True:
            match = re.compile(until, re.S).search(self.text, after)
            if match:
                return match.end()
            if time.time() > deadline or not self.more():
                raise AssertionError("no %r in %r" % (until, self.text[after:]))

    def more(self):
        ready, _, _ = select.select([self.file], [], [], 1)
        if not ready:
            return True
        try:
            data = os.read(self.file, 65536)
        except OSError:
            return False
        self.text = (self.text + data.decode("utf-8", "replace")).replace("\r\n", "\n")
        return bool(data)

    def send(self, text):
        os.write(self.file, text.encode())

    def wait(self, seconds=SECONDS):
        deadline = time.time() + seconds
        while self.more():
            if time.time() > deadline:
                raise AssertionError("it does not end after %r" % self.text[-200:])
        return os.WEXITSTATUS(os.waitpid(self.process, 0)[1])


class Session:
    def __init__(self, options):
        self.llmir, self.options = options.llmir, options
        self.template = os.path.join(options.work, "chat.jinja")
        with open(self.template, "w", encoding="utf-8") as file:
            file.write(TEMPLATE)
        self.artifact = os.path.join(options.work, "model.llmir")
        Command(options.llmir)("compile", options.model, "-o", self.artifact)
        self.environment = dict(os.environ, XDG_STATE_HOME=os.path.join(os.path.abspath(options.work), "state"),
                                TERM="xterm", HOME=os.path.abspath(options.work))

    def arguments(self, *more):
        return [self.llmir, "chat", self.artifact, "--template", self.template, "--temp", "0", *more]

    def answer(self, messages, count):
        """What the model answers, by `llmir run`."""
        prompt = "".join("%s: %s\n" % message for message in messages) + "assistant:"
        ids = json.loads(Command(self.llmir)("tokenize", self.options.model, "--jsonl",
                                             stdin=json.dumps({"text": prompt, "add_special_tokens": False}).encode()))
        result = json.loads(Command(self.llmir)("run", self.artifact, "--prompt-ids",
                                                ",".join(map(str, ids["ids"])), "--temp", "0", "-n", str(count),
                                                "--json"))
        return result["text"]


def check_pipe(session):
    ran = subprocess.run(session.arguments("-n", "6"), input="In the beginning\nAnd then\n", stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, universal_newlines=True, env=session.environment)
    first = session.answer([("user", "In the beginning")], 6)
    second = session.answer([("user", "In the beginning"), ("assistant", first), ("user", "And then")], 6)
    check("answers from a pipe", ran.returncode == 0 and ran.stdout == first + "\n" + second + "\n", ran)
    ran = subprocess.run(session.arguments("-n", "6", "--system", "Speak"), input="In the beginning", env=session.environment,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    expected = session.answer([("system", "Speak"), ("user", "In the beginning")], 6)
    check("--system", ran.returncode == 0 and ran.stdout == expected + "\n", ran)


def check_thinking(session):
    """The prompt has begun to think, and the model does not end it."""
    template = os.path.join(session.options.work, "thinking.jinja")
    with open(template, "w", encoding="utf-8") as file:
        file.write("{% if false %}<think></think>{% endif %}" + TEMPLATE + " {{ '<think>' if add_generation_prompt }}\n")

    def chat(*flags):
        command = [session.llmir, "chat", session.artifact, "--template", template, "--temp", "0", "-n", "6", *flags]
        return subprocess.run(command, input="In the beginning\n", stdout=subprocess.PIPE, universal_newlines=True,
                              env=session.environment).stdout
    shown = chat()
    check("what the model thinks is shown", len(shown) > 1 and "<think>" not in shown, shown)
    check("--hide-thinking", chat("--hide-thinking") == "\n")


def check_terminal(session):
    history = os.path.join(session.environment["XDG_STATE_HOME"], "llmir", "chat_history")
    terminal = Terminal(session.arguments("-n", "6"), session.environment)
    at = terminal.read("> ")
    terminal.send("In the beginning\n")
    first = session.answer([("user", "In the beginning")], 6)
    at = terminal.read(re.escape(first), at)
    at = terminal.read("> ", at)
    terminal.send("And then\n")
    second = session.answer([("user", "In the beginning"), ("assistant", first), ("user", "And then")], 6)
    at = terminal.read(re.escape(second), at)
    at = terminal.read("> ", at)
    terminal.send("/stats\n")
    at = terminal.read(r"of which (\d+) were in the cache", at)
    cached = int(re.findall(r"of which (\d+) were in the cache", terminal.text)[-1])
    check("the first turn is not computed again", cached >= 10, cached)

    saved = os.path.join(session.options.work, "saved.json")
    terminal.send("/save %s\n" % saved)
    at = terminal.read("wrote 4 messages", at)
    with open(saved, encoding="utf-8") as file:
        roles = [message["role"] for message in json.load(file)["messages"]]
    check("/save", roles == ["user", "assistant"] * 2, roles)

    terminal.send("/nonsense\n")
    at = terminal.read("there is no command '/nonsense'", at)
    terminal.send("/help\n")
    at = terminal.read("/regen.*Ctrl-D ends", at)
    terminal.send("/regen\n")
    at = terminal.read(re.escape(second), at)
    check("/regen", True)

    terminal.send("/reset\n")
    at = terminal.read("a new conversation", at)
    at = terminal.read("> ", at)
    terminal.send("\x1b[A" * 8 + "\n")  # Up, to the first message.
    at = terminal.read(re.escape(first), at)
    check("history", True)
    terminal.send("/load %s\n" % saved)
    at = terminal.read("a conversation of 4 messages", at)
    at = terminal.read("> ", at)
    terminal.send("\x04")
    check("Ctrl-D ends", terminal.wait() == 0, terminal.text[at:])
    mode = stat.S_IMODE(os.stat(history).st_mode)
    check("the history is private", mode == 0o600, oct(mode))


def check_interrupt(session):
    terminal = Terminal(session.arguments("-n", "100000", "--no-history"), session.environment)
    at = terminal.read("> ")
    # At once after the prompt, which is before the editor reads; and again in a line, whose text is dropped.
    for text in ("",) * 20 + ("dropped", "Gr\u00fc\u00dfe \u4e2d"):
        if text:
            terminal.send(text)
            at = terminal.read(text, at)
        terminal.send("\x03")
        at = terminal.read("Ctrl-D or /exit ends.*> ", at)
    check("Ctrl-C at the prompt", True)
    terminal.send("/nonsen\u00df\x7fse\n")  # The backspace deletes one character of two bytes.
    at = terminal.read("there is no command '/nonsense'", at)
    terminal.send("In the beginning\n")
    at = terminal.read("beginning.*\n.{20}", at)  # In the answer.
    os.kill(terminal.process, signal.SIGINT)
    at = terminal.read("stopped; the conversation goes on|the context of .* is full", at)
    terminal.send("/exit\n")
    check("Ctrl-C stops an answer", terminal.wait() == 0, terminal.text)


def wait_for(condition):
    deadline = time.time() + SECONDS
    while not condition() and time.time() < deadline:
        time.sleep(0.01)


def check_signals(session):
    """While a line is edited: it is shown again after a stop, and the end gives the terminal back."""
    terminal = Terminal(session.arguments("--no-history"), session.environment)
    at = terminal.read("> ")
    cooked = termios.ICANON | termios.ECHO

    def modes():
        return termios.tcgetattr(terminal.file)[3] & cooked

    terminal.send("/hel")
    at = terminal.read("/hel", at)
    check("keys come one by one", modes() == 0, modes())
    fcntl.ioctl(terminal.file, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 50, 0, 0))
    # Without a shell that could continue it, the kernel does not stop the process.
    os.kill(terminal.process, signal.SIGTSTP)
    at = terminal.read("/hel", at)
    wait_for(lambda: modes() == 0)
    check("Ctrl-Z without a shell", modes() == 0, modes())
    for _ in range(2):
        os.kill(terminal.process, signal.SIGSTOP)
        _, status = os.waitpid(terminal.process, os.WUNTRACED)
        shell = termios.tcgetattr(terminal.file)
        shell[3] |= cooked
        termios.tcsetattr(terminal.file, termios.TCSANOW, shell)
        os.kill(terminal.process, signal.SIGCONT)
        at = terminal.read("/hel", at)
        wait_for(lambda: modes() == 0)
        check("the line goes on", os.WIFSTOPPED(status) and modes() == 0, (status, modes()))
    terminal.send("p\n")
    at = terminal.read("/regen.*Ctrl-D ends", at)
    at = terminal.read("> ", at)
    terminal.send("x")
    at = terminal.read("x", at)
    os.kill(terminal.process, signal.SIGTERM)
    wait_for(lambda: modes() == cooked)
    check("the end gives the terminal back", modes() == cooked, modes())
    while terminal.more():
        pass
    status = os.waitpid(terminal.process, 0)[1]
    check("SIGTERM ends", os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGTERM, status)


def check_failures(session):
    def run(*arguments, text="Hello\n"):
        return subprocess.run([session.llmir, "chat", session.artifact, *arguments], input=text, env=session.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    ran = run()
    check("a model without a template", ran.returncode == 1 and "template" in ran.stderr and not ran.stdout, ran)
    wrong = os.path.join(session.options.work, "wrong.jinja")
    with open(wrong, "w", encoding="utf-8") as file:
        file.write("{% for m in messages %}\n{{ m.content }")
    ran = run("--template", wrong)
    check("a wrong template", ran.returncode == 1 and "wrong.jinja:2" in ran.stderr, ran)
    with open(wrong, "w", encoding="utf-8") as file:
        file.write("{{ raise_exception('no more messages') }}")
    ran = run("--template", wrong)
    check("a template that refuses", ran.returncode == 0 and "no more messages" in ran.stderr, ran)
    ran = run("--template", session.template, "-n", "4", text="word " * 5000 + "\n")
    check("a message that is too long", ran.returncode == 0 and "tokens" in ran.stderr and "--ctx" in ran.stderr, ran)


def check_context(session):
    """Old messages are dropped, and this is said."""
    lines = "".join("This is message %d of a long conversation\n" % i for i in range(12))
    ran = subprocess.run(session.arguments("-n", "8", "--ctx", "160"), input=lines, env=session.environment,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    check("a full context", ran.returncode == 0 and "messages are no longer seen" in ran.stderr
          and ran.stdout.count("\n") >= 12, ran)


def main():
    parser = work_parser(__doc__, "llmir")
    parser.add_argument("--model", required=True)
    options = parser.parse_args()
    fresh_folder(options.work)
    session = Session(options)
    for part in (check_pipe, check_thinking, check_terminal, check_interrupt, check_signals, check_failures, check_context):
        part(session)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
