"""Runs the commands in the README, the features page and the developer guide verbatim.

commands.py --source DIR --build DIR --work DIR

MODEL and model.gguf are the demo model in the README and the features page, and a tiny one in the developer guide,
which shows every form of a model. Downloads get the demo model from a server on loopback.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Hub"))
import make_tiny  # noqa: E402
from checks import Checks, fresh_folder, work_parser  # noqa: E402
from hub_server import HubServer, Large  # noqa: E402

check = Checks()
# Required output of a command, in addition to exit code 0.
SHOWN = (
    (r"llmir run model\.gguf", r"\w+ \w+"),
    (r"llmir bench model\.llmir$", r"tg128"),
    (r"llmir bench model\.llmir .*-n 8\b", r"tg8"),
    (r"--llm-optimization-pipeline", r"check\.expect_close"),
    (r"--interpret ", r"\d+ expectations? hold"),
    (r"--compare ", r"\d+ expectations? hold"),
    (r"mllm_trace$", r"graph\.CallGraphOp @model\.layers\.27 "),
    (r"--emit mllm$", r"mllm\.graph\.subgraph"),
    (r"--emit llm$", r"llm\.paged_attention"),
    (r"--emit optimized$", r"llm\.swiglu"),
    (r"--emit program$", r"mllm\.program\.fragment @llmir_step code"),
    (r"--emit lowered$", r"memref\."),
    (r"--emit llvm$", r"define void @llmir_step"),
    (r"--stop-after llm$", r"(?m)^llm\b"),
    (r"--emit llm \| ", r"llm\.paged_attention"),
    (r"--mlir-to-mllm", r"graph\.CallGraphOp @model"),
    (r"--run-xnnpack", r"NMSE"),
    (r"--disassemble-program", r"prog\.CPU\.inst\.linear"),
    (r"--tensors", r"embed_tokens"),
    (r"inspect MODEL$", r"(?i)llama"),
    (r"tokenize MODEL", r"\d+"),
    (r"run model\.llmir .*--json", r'"finish_reason"'),
    (r"perplexity", r"(?i)perplexity"),
    (r"doctor", r"x86-64|aarch64"),
    (r"llmir serve model", r"ready after .* on http://127\.0\.0\.1:"),
    (r"--convert-llm-to-linalg", r"linalg\."),
)


def commands(text, heading):
    """The commands of the first block of a section, or of its indented lines."""
    section = re.search(r"^%s\n(.*?)(?=^## |\Z)" % re.escape(heading), text, re.M | re.S) if heading else None
    body = section.group(1) if section else text
    block = re.search(r"```bash\n(.*?)```", body, re.S) if heading else None
    lines = block.group(1).split("\n") if block else re.findall(r"^    (build/bin/.*)$", body, re.M)
    return [re.sub(r"\s+# .*", "", line).strip() for line in lines if line.strip()]


def cell_commands(text):
    """The commands in the cells of a page's tables."""
    return [cell.replace("\\|", "|") for cell in re.findall(r"`(llmir(?:-opt|-translate)? [^`]*)`", text)
            if cell != "llmir COMMAND --help"]


def template(options):
    """A file with a chat template."""
    path = os.path.join(os.path.abspath(options.work), "chat.jinja")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("{% for message in messages %}{{ message.content }}{% endfor %}")
    return path


def read_page(options, page):
    with open(os.path.join(options.source, page), encoding="utf-8") as stream:
        return stream.read()


def check_names(options, text):
    """All passes on the features page exist, and it lists every command of llmir."""
    known = set()
    for name in ("LLM", "MLLM", "Conversion", "Codegen"):
        known.update(re.findall(r"^### `(-[\w-]+)`", read_page(options, "docs/Reference/%sPasses.md" % name), re.M))
    named = set(re.findall(r"`(-(?:m?llm|plan)-[\w-]+)`", text))
    check("its passes exist", len(named) > 10 and named <= known, named - known)
    said = subprocess.run([os.path.join(options.build, "bin/llmir"), "--help"], stdout=subprocess.PIPE,
                          universal_newlines=True).stdout
    subcommands = re.findall(r"^  (\w+)  ", re.search(r"^SUBCOMMANDS:\n(.*)", said, re.M | re.S | re.I).group(1), re.M)
    missing = [name for name in subcommands if not re.search("`llmir %s\\b" % name, text)]
    check("it has every command", len(subcommands) > 5 and not missing, missing)
    page = read_page(options, "docs/CommandLine.md")
    for name in subcommands + ["bench serve"]:
        said = subprocess.run([os.path.join(options.build, "bin/llmir"), *name.split(), "--help"], stdout=subprocess.PIPE,
                              universal_newlines=True).stdout
        flags = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", said)) - {"--help"}
        missing = {flag for flag in flags if flag not in page}
        check("docs/CommandLine.md has the flags of " + name, flags and not missing, missing)


def serve(command, options, environment):
    """Runs a server, on any port, until it is ready, and ends it as a service is ended. -> (exit code, output)"""
    server = subprocess.Popen(["bash", "-c", "exec %s --port 0" % command], cwd=options.work, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = b""
    for line in server.stdout:
        said += line
        if b"ready after" in line:
            server.terminate()
    return server.wait(), said


def run_all(options, page, heading, least, model, find=commands):
    lines = find(read_page(options, page), heading)
    check("%s %s has commands" % (page, heading), len(lines) >= least, lines)
    tools = os.path.join(options.build, "bin")
    environment = dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"],
                       XDG_CACHE_HOME=os.path.join(options.work, "cache"),
                       HF_HUB_CACHE=os.path.join(options.work, "hub"), HF_ENDPOINT=options.hub.endpoint,
                       HF_HUB_OFFLINE="0")
    for line in lines:
        run = re.sub(r"\bMODEL\b|\bmodel\.gguf\b", model, line).replace("FILE.jinja", template(options))
        if "--run-xnnpack" in line and not options.has_xnnpack:
            check.skip(line, "XNNPACK is not installed")
            continue
        if re.search(r"llmir serve model", run):
            code, output = serve(run, options, environment)
        else:
            result = subprocess.run(["bash", "-o", "pipefail", "-c", run], cwd=options.work,
                                    env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            code, output = result.returncode, result.stdout
        said = output.decode("utf-8", "replace")
        wanted = [text for command, text in SHOWN if re.search(command, line)]
        check(line, code == 0 and all(re.search(text, said) for text in wanted),
              "exit code %d: %s" % (code, said[-600:]))
        for name in re.findall(r"(?:-o|--graph) (\S+)", run):
            path = os.path.join(options.work, name)
            check("%s writes %s" % (line, name), os.path.exists(path) and os.path.getsize(path) > 1000)


def add_demo(hub, options):
    """Offers the demo model under the name that the pages use."""
    folder = os.path.join(options.source, "models", "demo")
    files = {}
    for name in ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"):
        with open(os.path.join(folder, name), "rb") as stream:
            files[name] = stream.read()
    files["model.safetensors"] = Large(files["model.safetensors"])
    for name in ("HuggingFaceTB/SmolLM2-135M", "HuggingFaceTB/SmolLM2-135M-Instruct"):
        hub.add(name, files)


def main():
    with HubServer() as hub:
        return run_pages(hub)


def run_pages(hub):
    options = work_parser(__doc__, "source", "build").parse_args()
    for name in ("source", "build", "work"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    fresh_folder(options.work)
    # As in a built clone.
    for name, target in (("build", options.build), ("models", options.source + "/models"),
                         ("examples", options.source + "/examples")):
        os.symlink(target, os.path.join(options.work, name))
    said = subprocess.run([os.path.join(options.build, "bin/llmir-translate"), "--help"], stdout=subprocess.PIPE,
                          universal_newlines=True).stdout
    options.hub = hub
    add_demo(hub, options)
    options.has_xnnpack = "--run-xnnpack" in said
    make_tiny.write_hf(os.path.join(options.work, "tiny"), *make_tiny.make("llama3"))

    run_all(options, "README.md", None, 3, "models/demo")
    run_all(options, "README.md", "## Using the `llm` dialect", 3, "models/demo")
    run_all(options, "README.md", "## Models as graphs, in C++", 6, "models/demo")
    # SPEC: 95
    run_all(options, "docs/DeveloperGuide.md", "## Inspect intermediate forms", 10, "tiny")
    features = read_page(options, "docs/Features.md")
    check_names(options, features)
    run_all(options, "docs/Features.md", None, 20, "models/demo", lambda text, _: cell_commands(text))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
