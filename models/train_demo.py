#!/usr/bin/env python3
"""Train, export and measure the demo model.

The whole way, from nothing to `models/demo/` (python3-torch and
python3-matplotlib; one processor core and about 95 minutes, or less on an
accelerator; add --resume to go on after an interruption):

    python3 models/get_text.py --cache /tmp/text
    python3 models/train_demo.py train --text /tmp/text/text \\
        --work /tmp/train --minutes 95 --threads 1
    python3 models/train_demo.py export --work /tmp/train
    python3 models/train_demo.py eval
    python3 models/train_demo.py samples
    python3 models/train_demo.py plot

`train` keeps everything in --work (tokenizer, token stream, checkpoint, loss
log); `export` writes the model to models/demo; `eval`, `samples` and `plot`
need nothing but that directory.  The schedule follows the time spent: progress
is (time trained) / --minutes, so the learning rate reaches zero when the time
is over, whatever the speed of the machine.
"""

import argparse
import glob
import json
import math
import os
import sys
import time

import numpy as np
import torch

import bpe
import llama

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(HERE, "demo")
VOCAB_SIZE = 4096
LOG_FIELDS = "minutes,step,tokens,learning_rate,train_loss,heldout_bpb"


def say(line):
    print(line, flush=True)


def read_text(path):
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


# ------------------------------------------------------------------- data --

def heldout_files(folder):
    return sorted(glob.glob(os.path.join(folder, "heldout", "*.txt")))


def prepare(text_dir, work):
    """The tokenizer and the token stream, made once and kept in `work`."""
    tok_path = os.path.join(work, "tokenizer.json")
    ids_path = os.path.join(work, "tokens.npy")
    texts = None

    def documents():
        paths = sorted(glob.glob(os.path.join(text_dir, "*.txt")))
        if not paths:
            sys.exit("no *.txt in %s: run models/get_text.py first" % text_dir)
        return [d for p in paths for d in read_text(p).split("\n\f\n")]

    if not os.path.exists(tok_path):
        say("training the tokenizer")
        texts = documents()
        bpe.train(texts, VOCAB_SIZE, say).save(tok_path)
    tokenizer = bpe.Tokenizer.load(tok_path)
    if not os.path.exists(ids_path):
        ids = []
        for doc in texts or documents():
            ids.append(tokenizer.bos)
            ids.extend(tokenizer.encode(doc))
        np.save(ids_path, np.array(ids, dtype=np.uint16))
    return tokenizer, np.load(ids_path)


class Windows:
    """Training windows: one pass after another over the token stream.

    Each pass cuts the stream at a different offset and shuffles the pieces.
    About half of the pieces are moved forward to the next start of a
    paragraph or document.  Every window begins with the BOS token, as the
    windows of the evaluation do: BOS, then the text.
    """

    def __init__(self, stream, tokenizer, seed):
        self.stream, self.bos, self.seed = stream, tokenizer.bos, seed
        newline = tokenizer.encode("\n")[0]
        start = (stream[:-1] == newline) | (stream[:-1] == self.bos)
        inside = (stream[1:] != newline) & (stream[1:] != self.bos)
        self.starts = np.flatnonzero(start & inside) + 1

    def pieces(self, epoch, length):
        rng = np.random.RandomState(self.seed * 1000003 + epoch)
        at = np.arange(rng.randint(length), len(self.stream) - 2 * length,
                       length)
        near = np.searchsorted(self.starts, at)
        near = self.starts[np.minimum(near, len(self.starts) - 1)]
        close = (near > at) & (near - at < length // 2)
        at = np.where(close & (rng.rand(len(at)) < 0.5), near, at)
        rng.shuffle(at)
        return at

    def batch(self, at, length):
        rows = np.stack([self.stream[a:a + length] for a in at])
        targets = rows.astype(np.int64)
        inputs = np.concatenate(
            [np.full((len(at), 1), self.bos, np.int64), targets[:, :-1]], 1)
        return torch.from_numpy(inputs), torch.from_numpy(targets)


# ------------------------------------------------------------- evaluation --

def bits_per_byte(model, tokenizer, text, ctx, device="cpu", batch=8,
                  autocast=False):
    """Score a text; returns nats, tokens, bytes and bits per byte.

    Consecutive windows that do not overlap: BOS and the next ctx-1 tokens.
    The BOS predicts the first of them, and so on, so that every token of the
    text is scored exactly once; BOS itself is not.  Bits per byte are the
    sum of the nats / ln 2 / the number of UTF-8 bytes of the text.
    """
    ids = tokenizer.encode(text)
    span = ctx - 1
    nats = 0.0
    with torch.no_grad():
        # Whole windows in batches, then the shorter last one.
        whole = len(ids) // span
        groups = [range(i, min(i + batch, whole))
                  for i in range(0, whole, batch)]
        if len(ids) % span:
            groups.append(range(whole, whole + 1))
        for group in groups:
            rows = torch.tensor([[tokenizer.bos] + ids[i * span:(i + 1) * span]
                                 for i in group], device=device)
            with torch.autocast(torch.device(device).type, torch.bfloat16,
                                enabled=autocast):
                logits = model(rows[:, :-1])
            logp = torch.log_softmax(logits.float(), -1)
            picked = logp.gather(-1, rows[:, 1:, None])
            nats -= picked.double().sum().item()
    size = len(text.encode("utf-8"))
    return {"bits_per_byte": nats / math.log(2) / size, "nats": nats,
            "tokens": len(ids), "bytes": size}


def total(parts):
    """The sum over several texts: nats, tokens, bytes; and bits per byte."""
    out = {key: sum(p[key] for p in parts)
           for key in ("nats", "tokens", "bytes")}
    out["bits_per_byte"] = out["nats"] / math.log(2) / out["bytes"]
    return out


# -------------------------------------------------------------- optimizer --

class Optimizer:
    """AdamW for the embedding and the norms; for the other matrices the same,
    or Muon: momentum whose matrix is made orthogonal (Newton-Schulz steps)
    and scaled to the size of an AdamW step."""

    def __init__(self, model, weight_decay, muon, device):
        self.decay, self.muon, self.device = weight_decay, [], device
        matrices, embedding, norms = [], [], []
        for name, p in model.named_parameters():
            if p.dim() < 2:
                norms.append(p)
            elif "embed" in name or not muon:
                embedding.append(p)
            else:
                matrices.append(p)
        self.muon = [(p, torch.zeros_like(p)) for p in matrices]
        self.adam = torch.optim.AdamW(
            [{"params": embedding, "weight_decay": weight_decay},
             {"params": norms, "weight_decay": 0.0}],
            lr=0.0, betas=(0.9, 0.95), eps=1e-10)

    @staticmethod
    def orthogonal(m):
        """U V^T of m = U S V^T, nearly (five quintic steps, in bf16)."""
        x = m.bfloat16()
        tall = x.shape[0] > x.shape[1]
        x = x.t() if tall else x
        x = x / (x.float().norm() + 1e-7).to(x.dtype)
        for _ in range(5):
            a = x @ x.t()
            b = -4.7750 * a + 2.0315 * (a @ a)
            x = 3.4445 * x + b @ x
        return (x.t() if tall else x).float()

    def step(self, rate):
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        with torch.no_grad():
            for p, momentum in self.muon:
                momentum.mul_(0.95).add_(p.grad, alpha=0.05)
                update = self.orthogonal(p.grad * 0.05 + momentum * 0.95)
                p.mul_(1 - rate * self.decay)
                p.add_(update, alpha=-rate * 0.2 * max(p.shape) ** 0.5)

    def state_dict(self):
        return {"adam": self.adam.state_dict(),
                "muon": [m for _, m in self.muon]}

    def load_state_dict(self, state):
        self.adam.load_state_dict(state["adam"])
        for (_, momentum), saved in zip(self.muon, state["muon"]):
            momentum.copy_(saved)


# --------------------------------------------------------------- training --

def keep_memory(argv):
    """Restart with glibc told to keep freed memory: a CPU run is a sixth
    faster when large tensors are not mapped and unmapped all the time."""
    wanted = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TOP_PAD_": "1000000000",
              "MALLOC_TRIM_THRESHOLD_": "100000000000"}
    if not torch.cuda.is_available() and "MALLOC_MMAP_MAX_" not in os.environ:
        os.execve(sys.executable, [sys.executable] + argv,
                  dict(os.environ, **wanted))


def learning_rate(peak, progress, warmup=0.02):
    """Linear warm-up, then a cosine to zero."""
    if progress < warmup:
        return peak * (progress / warmup + 0.01)
    done = min(1.0, (progress - warmup) / (1 - warmup))
    return peak * 0.5 * (1 + math.cos(math.pi * done))


def train(args):
    keep_memory(sys.argv)
    os.makedirs(args.work, exist_ok=True)
    torch.set_num_threads(args.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer, stream = prepare(args.text, args.work)
    windows = Windows(stream, tokenizer, args.seed)
    heldout = [read_text(p) for p in heldout_files(DEMO)]
    model = llama.Llama(llama.CONFIG)
    model.initialize()
    model.to(device)
    optimizer = Optimizer(model, args.weight_decay, args.muon, device)
    count = sum(p.numel() for p in model.parameters())
    say("%d parameters, %d training tokens, %s, %d thread(s)" % (
        count, len(stream), device, torch.get_num_threads()))

    state = {"seconds": 0.0, "step": 0, "tokens": 0,
             "epoch": -1, "length": 0, "used": 0}
    path = os.path.join(args.work, "checkpoint.pt")
    log_path = os.path.join(args.work, "loss.csv")
    if args.resume and os.path.exists(path):
        saved = torch.load(path, map_location=device)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        state.update(saved["state"])
        say("resumed at step %d, %.1f minutes" % (
            state["step"], state["seconds"] / 60))
        with open(log_path) as f:  # keep what came before the checkpoint
            rows = [r for r in f.read().splitlines()[1:]
                    if int(r.split(",")[1]) <= state["step"]]
    else:
        rows = []
    with open(log_path, "w") as f:
        f.write("\n".join([LOG_FIELDS] + rows) + "\n")

    def save():
        torch.save({"model": model.state_dict(), "state": state,
                    "optimizer": optimizer.state_dict()}, path + ".new")
        os.replace(path + ".new", path)

    def evaluate():
        model.eval()
        parts = [bits_per_byte(model, tokenizer, t, args.ctx, device,
                               autocast=True) for t in heldout]
        model.train()
        return total(parts)["bits_per_byte"] if parts else float("nan")

    def log(rate, loss, bpb=None):
        with open(log_path, "a") as f:
            f.write("%.3f,%d,%d,%.6g,%s,%s\n" % (
                state["seconds"] / 60, state["step"], state["tokens"], rate,
                "" if loss is None else "%.4f" % loss,
                "" if bpb is None else "%.4f" % bpb))

    budget = args.minutes * 60
    started = time.time() - state["seconds"]
    saved_at = evaluated_at = state["seconds"]
    losses, order, order_key = [], None, None
    while state["seconds"] < budget:
        progress = state["seconds"] / budget
        length = args.ctx // 2 if progress < args.short else args.ctx
        rows = args.batch_tokens // length
        if state["length"] != length:  # this pass is cut short: a new one
            state.update(length=length, used=0, epoch=state["epoch"] + 1)
        if order_key != (state["epoch"], length):
            order_key = (state["epoch"], length)
            order = windows.pieces(*order_key)
        rate = learning_rate(args.rate, progress)
        micro = max(1, min(rows, args.micro_tokens // length))
        optimizer.adam.zero_grad(set_to_none=True)
        for p, _ in optimizer.muon:
            p.grad = None
        step_loss = 0.0
        for i in range(0, rows, micro):
            at = order[state["used"] + i:state["used"] + i + micro]
            x, y = (t.to(device) for t in windows.batch(at, length))
            with torch.autocast(device, torch.bfloat16, enabled=not args.f32):
                logits = model(x)
            loss = llama.CrossEntropy.apply(
                logits.view(-1, logits.shape[-1]), y.view(-1))
            (loss * (len(at) / rows)).backward()
            step_loss += loss.item() * len(at) / rows
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step(rate)
        state["step"] += 1
        state["tokens"] += rows * length
        state["used"] += rows
        if state["used"] + rows > len(order):
            state["epoch"] += 1
            state["used"] = 0
        losses.append(step_loss)
        state["seconds"] = time.time() - started
        if state["step"] % 20 == 0:
            mean = sum(losses) / len(losses)
            losses = []
            log(rate, mean)
            say("%6.1f min  step %5d  pass %2d  ctx %3d  rate %.5f  loss %.4f"
                "  %5.0f tokens/s" % (
                    state["seconds"] / 60, state["step"], state["epoch"],
                    length, rate, mean, state["tokens"] / state["seconds"]))
        if state["seconds"] - evaluated_at > args.eval_minutes * 60:
            bpb = evaluate()
            log(rate, None, bpb)
            say("held-out text: %.4f bits per byte" % bpb)
            state["seconds"] = evaluated_at = time.time() - started
        if state["seconds"] - saved_at > args.save_minutes * 60:
            save()
            saved_at = state["seconds"]
    log(0.0, None, evaluate())
    save()
    say("done: %d steps, %d tokens, %.1f minutes, %.4f bits per byte" % (
        state["step"], state["tokens"], state["seconds"] / 60, evaluate()))


def train_arguments(sub):
    p = sub.add_parser("train", help="train (resumable)")
    p.set_defaults(run=train)
    p.add_argument("--text", required=True,
                   help="directory of training text (CACHE/text of get_text.py)")
    p.add_argument("--work", required=True,
                   help="directory for tokenizer, tokens, checkpoint, loss log")
    p.add_argument("--minutes", type=float, default=95,
                   help="training time in all (default %(default)s)")
    p.add_argument("--resume", action="store_true",
                   help="go on from the checkpoint in --work, if there is one")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--rate", type=float, default=3e-3,
                   help="peak learning rate (default %(default)s)")
    p.add_argument("--weight-decay", type=float, default=0.1)
    p.add_argument("--adamw", dest="muon", action="store_false",
                   help="AdamW for all parameters instead of Muon for the "
                        "matrices of the layers")
    p.add_argument("--ctx", type=int, default=512,
                   help="context length (default %(default)s)")
    p.add_argument("--short", type=float, default=0.5,
                   help="part of the time, at the start, that is spent on "
                        "windows of half the length (default %(default)s)")
    p.add_argument("--batch-tokens", type=int, default=4096)
    p.add_argument("--micro-tokens", type=int, default=4096,
                   help="tokens in one pass through the network")
    p.add_argument("--eval-minutes", type=float, default=6)
    p.add_argument("--save-minutes", type=float, default=4)
    p.add_argument("--f32", action="store_true",
                   help="compute in float32, not in bfloat16")


# ---------------------------------------------- export, samples, pictures --

def write_json(path, data):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(data, f, indent=2, ensure_ascii=False)
        f.write("\n")


def export(args):
    """checkpoint.pt -> models/demo, in the Hugging Face layout."""
    saved = torch.load(os.path.join(args.work, "checkpoint.pt"),
                       map_location="cpu")
    os.makedirs(args.model, exist_ok=True)

    def out(name):
        return os.path.join(args.model, name)

    llama.write_safetensors(out("model.safetensors"), saved["model"])
    write_json(out("config.json"), llama.CONFIG)
    write_json(out("generation_config.json"), {
        "bos_token_id": 0, "eos_token_id": 0, "do_sample": True,
        "temperature": 0.8, "top_p": 0.95,
        "max_length": llama.CONFIG["max_position_embeddings"]})
    tokenizer = bpe.Tokenizer.load(os.path.join(args.work, "tokenizer.json"))
    tokenizer.save(out("tokenizer.json"))
    write_json(out("tokenizer_config.json"), {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": bpe.END_OF_TEXT, "eos_token": bpe.END_OF_TEXT,
        "add_bos_token": True, "add_eos_token": False,
        "add_prefix_space": False, "clean_up_tokenization_spaces": False,
        "model_max_length": llama.CONFIG["max_position_embeddings"]})
    with open(os.path.join(args.work, "loss.csv")) as f:
        log = f.read()
    with open(out("loss.csv"), "w") as f:
        f.write(log)
    state = saved["state"]
    write_json(out("training.json"), {
        "parameters": sum(t.numel() for t in saved["model"].values()),
        "steps": state["step"], "tokens": state["tokens"],
        "passes": round(state["tokens"] / len(
            np.load(os.path.join(args.work, "tokens.npy"))), 2),
        "minutes": round(state["seconds"] / 60, 1),
        "tokens_per_second": round(state["tokens"] / state["seconds"])})
    say("wrote %s (model.safetensors: %d bytes)" % (
        args.model, os.path.getsize(out("model.safetensors"))))


def load_tokenizer(folder):
    return bpe.Tokenizer.load(os.path.join(folder, "tokenizer.json"))


def evaluate(args):
    """Bits per byte of the exported model (bf16 weights, float32 sums)."""
    torch.set_num_threads(args.threads)
    model, tokenizer = llama.load(args.model), load_tokenizer(args.model)
    paths = args.files or heldout_files(args.model)
    files = {}
    for path in paths:
        files[os.path.basename(path)] = result = bits_per_byte(
            model, tokenizer, read_text(path), args.ctx)
        say("%-14s %7d bytes %6d tokens  %.4f bits per byte" % (
            os.path.basename(path), result["bytes"], result["tokens"],
            result["bits_per_byte"]))
    everything = total(list(files.values()))
    say("%-14s %7d bytes %6d tokens  %.4f bits per byte" % (
        "total", everything["bytes"], everything["tokens"],
        everything["bits_per_byte"]))
    if not args.files:
        write_json(os.path.join(args.model, "eval.json"), {
            "ctx": args.ctx, "weights": "bfloat16", "arithmetic": "float32",
            "total": everything, "files": files})


PROMPTS = [  # (seed, prompt); the empty prompt is the BOS token alone
    (1, ""),
    (2, "It is a truth universally acknowledged, that"),
    (3, "And it came to pass in those days, that"),
    (4, "\"My dear Watson,\" said Sherlock Holmes,"),
    (5, "A database file"),
]


def sample(model, tokenizer, prompt, seed, count, temperature, top_p):
    """Continue `prompt` by up to `count` tokens; returns the new text."""
    generator = torch.Generator().manual_seed(seed)
    ids = [tokenizer.bos] + tokenizer.encode(prompt)
    start, limit = len(ids), model.config["max_position_embeddings"]
    with torch.no_grad():
        while len(ids) < min(start + count, limit):
            logits = model(torch.tensor([ids]))[0, -1] / temperature
            probs, order = torch.softmax(logits, -1).sort(descending=True)
            probs[probs.cumsum(-1) - probs >= top_p] = 0.0
            pick = torch.multinomial(probs, 1, generator=generator)
            ids.append(order[pick].item())
            if ids[-1] == tokenizer.bos:  # the end of the document
                break
    return tokenizer.decode(ids[start:])


def samples(args):
    torch.set_num_threads(args.threads)
    model, tokenizer = llama.load(args.model), load_tokenizer(args.model)
    with open(os.path.join(args.model, "generation_config.json")) as f:
        how = json.load(f)
    results = []
    for seed, prompt in PROMPTS:
        text = sample(model, tokenizer, prompt, seed, args.tokens,
                      how["temperature"], how["top_p"])
        results.append({"seed": seed, "prompt": prompt, "text": text})
        say("--- seed %d, prompt %r\n%s[|]%s\n" % (seed, prompt, prompt, text))
    write_json(os.path.join(args.model, "samples.json"), results)


def plot(args):
    """loss.png from loss.csv: both curves in bits per byte."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    with open(os.path.join(args.model, "loss.csv")) as f:
        rows = [line.strip().split(",") for line in f][1:]
    train_rows = [(int(r[2]) / 1e6, float(r[4])) for r in rows if r[4]]
    held = [(int(r[2]) / 1e6, float(r[5])) for r in rows if r[5]]
    ratio = args.bytes_per_token
    fig, axes = plt.subplots(figsize=(8, 4.5), dpi=110)
    x = np.array([t for t, _ in train_rows])
    y = np.array([v for _, v in train_rows]) / math.log(2) / ratio
    axes.plot(x, y, color="#9dbcd6", linewidth=0.8, label="training text")
    width = max(1, len(y) // 40)
    if len(y) > 2 * width:
        smooth = np.convolve(y, np.ones(width) / width, mode="valid")
        offset = (width - 1) // 2
        axes.plot(x[offset:offset + len(smooth)], smooth, color="#2b6ca3",
                  linewidth=1.6, label="training text, smoothed")
    axes.plot([t for t, _ in held], [v for _, v in held], "o-",
              color="#c8501e", markersize=4, linewidth=1.4,
              label="held-out text (%.3f at the end)" % held[-1][1])
    axes.set_xlabel("training tokens (millions)")
    axes.set_ylabel("bits per byte")
    top = max(v for _, v in held) + 0.25
    bottom = min(min(y), min(v for _, v in held)) - 0.1
    axes.set_ylim(math.floor(bottom * 10) / 10, math.ceil(top * 10) / 10)
    axes.set_xlim(left=0)
    axes.grid(color="#dddddd", linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False)
    axes.set_title("The demo model's loss", loc="left")
    fig.tight_layout()
    fig.savefig(os.path.join(args.model, "loss.png"))


def other_arguments(sub):
    def command(name, run, text):
        p = sub.add_parser(name, help=text)
        p.set_defaults(run=run)
        p.add_argument("--model", default=DEMO,
                       help="model folder (default models/demo)")
        return p

    p = command("export", export, "write the trained model to --model")
    p.add_argument("--work", required=True, help="the --work of `train`")
    p = command("eval", evaluate,
                "bits per byte of the held-out text -> eval.json")
    p.add_argument("--ctx", type=int, default=512)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("files", nargs="*",
                   help="other text files (eval.json is left alone then)")
    p = command("samples", samples, "five samples -> samples.json")
    p.add_argument("--tokens", type=int, default=160)
    p.add_argument("--threads", type=int, default=1)
    p = command("plot", plot, "loss.csv -> loss.png (python3-matplotlib)")
    p.add_argument("--bytes-per-token", type=float, default=3.447,
                   help="of the training text (default %(default)s)")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = parser.add_subparsers(dest="command", metavar="command")
    sub.required = True
    train_arguments(sub)
    other_arguments(sub)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
