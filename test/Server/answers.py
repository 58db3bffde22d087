#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir serve: every API gives the text that `llmir run` gives, in one piece and as a stream.

    answers.py --work DIR --llmir PROGRAM --demo DIR
"""

import json
import os
import re
import shutil
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402
from server_process import Server, compile_demo  # noqa: E402

check = Checks()
PROMPT = "In the beginning"


def run(llmir, model, prompt, *flags):
    return json.loads(llmir("run", model, prompt, "--temp", "0", "--json", *flags))


def run_conversation(llmir, model, server, count):
    """What `llmir run` gives for the ids of a conversation."""
    ids = server.post("/tokenize", {"messages": [{"role": "user", "content": PROMPT}]})[1]["tokens"]
    return json.loads(llmir("run", model, "--prompt-ids", ",".join(map(str, ids)), "-n", str(count), "--temp", "0",
                            "--json"))


def check_completions(llmir, model, server):
    alone = run(llmir, model, PROMPT, "-n", "20")
    body = {"prompt": PROMPT, "max_tokens": 20, "temperature": 0, "model": "demo"}
    status, answer = server.post("/v1/completions", body)
    choice = answer["choices"][0]
    check("completion", status == 200 and choice["text"] == alone["text"], (answer, alone))
    check("its reason", choice["finish_reason"] == alone["finish_reason"] == "length", choice)
    usage = answer["usage"]
    check("usage", usage["prompt_tokens"] == len(alone["prompt_ids"]) and usage["completion_tokens"] == 20
          and usage["total_tokens"] == usage["prompt_tokens"] + 20, usage)
    check("its form", answer["object"] == "text_completion" and answer["id"].startswith("cmpl-")
          and answer["model"] == "demo", answer)
    events = server.stream("/v1/completions", dict(body, stream=True, stream_options={"include_usage": True}))
    texts = [event["choices"][0]["text"] for _, event in events[:-2]]
    check("stream", "".join(texts) == alone["text"] and len(texts) > 5, events)
    check("end of the stream", events[-1][1] == "[DONE]" and events[-2][1]["usage"]["completion_tokens"] == 20
          and events[-2][1]["choices"] == [] and all(event["usage"] is None for _, event in events[:-2]), events[-3:])
    events = server.stream("/v1/completions", dict(body, stream=True))
    check("stream without usage", all("usage" not in event for _, event in events[:-1]), events)
    default = server.post("/v1/completions", {"prompt": PROMPT, "temperature": 0})[1]
    check("16 tokens by default", default["usage"]["completion_tokens"] == 16, default)
    ids = server.post("/v1/completions", {"prompt": alone["prompt_ids"], "max_tokens": 20, "temperature": 0})[1]
    check("ids as prompt", ids["choices"][0]["text"] == alone["text"], ids)
    several = server.post("/v1/completions", {"prompt": [PROMPT, "And God said"], "n": 2, "max_tokens": 8,
                                              "temperature": 0})[1]
    texts = [choice["text"] for choice in several["choices"]]
    check("several prompts", [choice["index"] for choice in several["choices"]] == [0, 1, 2, 3]
          and texts[0] == texts[1] == alone["text"][:len(texts[0])]
          and texts[2] == texts[3] == run(llmir, model, "And God said", "-n", "8")["text"], several)
    sampled = server.post("/v1/completions", {"prompt": PROMPT, "n": 3, "max_tokens": 12, "temperature": 1.5,
                                              "seed": 3})[1]
    again = server.stream("/v1/completions", {"prompt": PROMPT, "n": 3, "max_tokens": 12, "temperature": 1.5,
                                              "seed": 3, "stream": True})
    texts = ["", "", ""]
    for _, event in again[:-1]:
        texts[event["choices"][0]["index"]] += event["choices"][0]["text"]
    check("n continuations as a stream", texts == [choice["text"] for choice in sampled["choices"]]
          and len(set(texts)) == 3, (texts, sampled))
    unseeded = {server.post("/v1/completions", {"prompt": PROMPT, "max_tokens": 12, "temperature": 1.5})[1]["choices"][0]
                ["text"] for _ in range(4)}
    check("a seed of its own for each request", len(unseeded) > 1, unseeded)


def check_stops(llmir, model, server):
    text = run(llmir, model, PROMPT, "-n", "40")["text"]
    words = text.split(" ")
    stop = words[6] + " " + words[7][:1]  # Within a token, over several.
    body = {"prompt": PROMPT, "max_tokens": 40, "temperature": 0, "stop": ["nothing of this", stop]}
    wanted = text[:text.index(stop)]
    answer = server.post("/v1/completions", body)[1]
    check("stop", answer["choices"][0]["text"] == wanted and answer["choices"][0]["finish_reason"] == "stop", answer)
    events = server.stream("/v1/completions", dict(body, stream=True))
    check("stop in a stream", "".join(event["choices"][0]["text"] for _, event in events[:-1]) == wanted
          and events[-2][1]["choices"][0]["finish_reason"] == "stop", events)
    # Every text that begins a stop is held back, but none is lost.
    never = [text[i:i + 9] + "\u0001" for i in range(0, len(text) - 9, 3)][:60]
    events = server.stream("/v1/completions", dict(body, stop=never, stream=True))
    check("held back, not lost", "".join(event["choices"][0]["text"] for _, event in events[:-1]) == text, events)
    included = server.post("/v1/completions", dict(body, include_stop_str_in_output=True))[1]
    check("stop included", included["choices"][0]["text"] == wanted + stop, included)


def check_logprobs(server):
    body = {"prompt": PROMPT, "max_tokens": 6, "temperature": 0, "logprobs": 3}
    whole = server.post("/v1/completions", body)[1]["choices"][0]
    logprobs = whole["logprobs"]
    check("logprobs", "".join(logprobs["tokens"]) == whole["text"] and len(logprobs["token_logprobs"]) == 6
          and all(value <= 0 for value in logprobs["token_logprobs"])
          and all(len(top) == 3 for top in logprobs["top_logprobs"]), whole)
    events = [event["choices"][0] for _, event in server.stream("/v1/completions", dict(body, stream=True))[:-1]]
    values = [value for event in events if event["logprobs"] for value in event["logprobs"]["token_logprobs"]]
    check("logprobs of a stream", values == logprobs["token_logprobs"], (values, logprobs))
    prompt = server.post("/v1/completions", dict(body, prompt_logprobs=1))[1]["choices"][0]
    check("logprobs of the prompt", prompt["prompt_logprobs"][0] is None and len(prompt["prompt_logprobs"]) > 2, prompt)
    echoed = server.post("/v1/completions", dict(body, echo=True, n=2))[1]["choices"]
    of_prompt = [None] + [each[str(id)]["logprob"] for each, id in zip(
        server.post("/v1/completions", dict(body, prompt_logprobs=0))[1]["choices"][0]["prompt_logprobs"][1:],
        server.post("/tokenize", {"prompt": PROMPT})[1]["tokens"][1:])]
    for choice in echoed:
        both = choice["logprobs"]
        check("echo with logprobs", choice["text"] == PROMPT + whole["text"]
              and both["token_logprobs"] == of_prompt + logprobs["token_logprobs"]
              and both["tokens"][len(of_prompt):] == logprobs["tokens"] and both["top_logprobs"][0] is None
              and len(both["top_logprobs"][1]) in (3, 4)
              and both["text_offset"][len(of_prompt):] == [at + len(PROMPT) for at in logprobs["text_offset"]]
              and "".join(both["tokens"]).endswith(choice["text"]) and "prompt_logprobs" not in choice, choice)
    alone = server.post("/v1/completions", dict(body, echo=True, max_tokens=0, stop=[PROMPT[-1]], n=2))[1]
    for choice in alone["choices"]:
        check("the prompt alone", choice["text"] == PROMPT and choice["finish_reason"] == "length"
              and choice["logprobs"]["token_logprobs"] == of_prompt, alone)
    check("its usage", alone["usage"]["completion_tokens"] == 0
          and alone["usage"]["total_tokens"] == len(of_prompt), alone)
    ids = server.post("/tokenize", {"prompt": PROMPT})[1]["tokens"]
    verbatim = "  And\u00e9 <|endoftext|>"
    mixed = server.post("/v1/completions", {"prompt": [verbatim, ids], "max_tokens": 3, "temperature": 0,
                                            "echo": True, "logprobs": 0})[1]["choices"]
    check("echo of texts and of ids", mixed[0]["text"].startswith(verbatim) and mixed[1]["text"].startswith(PROMPT)
          and mixed[0]["logprobs"]["text_offset"][-3] == len(verbatim)
          and mixed[0]["logprobs"]["text_offset"] == sorted(mixed[0]["logprobs"]["text_offset"]), mixed)
    chat = {"messages": [{"role": "user", "content": PROMPT}], "max_tokens": 4, "temperature": 0, "logprobs": True,
            "top_logprobs": 2}
    content = server.post("/v1/chat/completions", chat)[1]["choices"][0]["logprobs"]["content"]
    check("logprobs of chat", len(content) == 4 and all(
        len(entry["top_logprobs"]) == 2 and (bytes(entry["bytes"]).decode("utf-8", "replace") == entry["token"]
                                             or entry["token"].startswith("token_id:"))
        for entry in content), content)
    events = [event["choices"][0] for _, event in server.stream("/v1/chat/completions", dict(chat, stream=True))[:-1]]
    parts = [entry for event in events if event["logprobs"] for entry in event["logprobs"]["content"]]
    check("logprobs of chat as a stream", parts == content, (parts, content))


def check_chat(llmir, model, server):
    alone = run_conversation(llmir, model, server, 12)
    body = {"messages": [{"role": "user", "content": PROMPT}], "max_tokens": 12, "temperature": 0}
    status, answer = server.post("/v1/chat/completions", body)
    message = answer["choices"][0]["message"]
    check("chat", status == 200 and message["role"] == "assistant" and message["content"] == alone["text"],
          (answer, alone))
    check("its form", answer["object"] == "chat.completion" and answer["usage"]["completion_tokens"] == 12, answer)
    events = server.stream("/v1/chat/completions", dict(body, stream=True, stream_options={"include_usage": True}))
    deltas = [event["choices"][0]["delta"] for _, event in events[:-2]]
    check("chat as a stream", deltas[0]["role"] == "assistant"
          and "".join(delta.get("content", "") for delta in deltas) == alone["text"], events)
    check("its end", events[-3][1]["choices"][0]["finish_reason"] == "length"
          and events[-2][1]["usage"]["completion_tokens"] == 12 and events[-1][1] == "[DONE]", events[-3:])
    parts = server.post("/v1/chat/completions", dict(body, messages=[
        {"role": "user", "content": [{"type": "text", "text": PROMPT}]}]))[1]
    check("contents as parts", parts["choices"][0]["message"]["content"] == alone["text"], parts)
    limit = server.post("/v1/chat/completions", dict(body, max_tokens=None, max_completion_tokens=3))[1]
    check("max_completion_tokens", limit["usage"]["completion_tokens"] == 3, limit)


def check_responses(llmir, model, server):
    alone = run_conversation(llmir, model, server, 10)
    body = {"input": PROMPT, "max_output_tokens": 10, "temperature": 0}
    status, answer = server.post("/v1/responses", body)
    check("response", status == 200 and answer["output"][0]["content"][0]["text"] == alone["text"]
          and answer["status"] == "incomplete" and answer["usage"]["output_tokens"] == 10, answer)
    messages = server.post("/v1/responses", dict(body, input=[
        {"role": "user", "content": [{"type": "input_text", "text": PROMPT}]}]))[1]
    check("messages as input", messages["output"][0]["content"][0]["text"] == alone["text"], messages)
    instructed = server.post("/v1/responses", dict(body, instructions="In the"))[1]
    check("instructions", instructed["usage"]["input_tokens"] > answer["usage"]["input_tokens"], instructed)
    events = server.stream("/v1/responses", dict(body, stream=True))
    names = [name for name, _ in events]
    check("its events", names[:4] == ["response.created", "response.in_progress", "response.output_item.added",
                                      "response.content_part.added"]
          and names[-4:] == ["response.output_text.done", "response.content_part.done", "response.output_item.done",
                             "response.incomplete"]
          and set(names[4:-4]) == {"response.output_text.delta"}
          and all(event["type"] == name for name, event in events), names)
    check("response as a stream", "".join(event["delta"] for name, event in events if name.endswith("delta"))
          == alone["text"] == events[-1][1]["response"]["output"][0]["content"][0]["text"], events)
    check("numbers of events", [event["sequence_number"] for _, event in events] == list(range(len(events))))


def check_generate(llmir, model, server):
    alone = run(llmir, model, PROMPT, "-n", "9")
    body = {"text": PROMPT, "sampling_params": {"max_new_tokens": 9, "temperature": 0}}
    status, answer = server.post("/generate", body)
    check("generate", status == 200 and answer["text"] == alone["text"] and answer["output_ids"] == alone["ids"]
          and answer["meta_info"]["finish_reason"] == {"type": "length", "length": 9}, answer)
    events = server.stream("/generate", dict(body, stream=True))
    check("generate as a stream", events[-1][1] == "[DONE]" and events[-2][1]["text"] == alone["text"]
          and len(events[0][1]["text"]) < len(alone["text"]), events)
    several = server.post("/generate", dict(body, text=[PROMPT, PROMPT]))[1]
    check("generate of several", [each["text"] for each in several] == [alone["text"]] * 2, several)


def check_tokens(llmir, model, server):
    ids = json.loads(llmir("run", model, PROMPT, "-n", "1", "--json"))["prompt_ids"]
    answer = server.post("/tokenize", {"prompt": PROMPT, "return_token_strs": True})[1]
    check("tokenize", answer["tokens"] == ids and answer["count"] == len(ids) and len(answer["token_strs"]) == len(ids)
          and answer["max_model_len"] == 512, answer)
    text = server.post("/detokenize", {"tokens": answer["tokens"]})[1]
    check("detokenize", PROMPT in text["prompt"], text)
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    rendered = server.post("/apply-template", {"messages": messages})[1]
    check("apply-template", rendered == {"prompt": "a b "}, rendered)
    conversation = server.post("/tokenize", {"messages": messages})[1]
    check("tokenize a conversation", conversation["count"] > 1, conversation)


def check_state(server):
    models = server.get("/v1/models")[1]
    check("models", [each["id"] for each in models["data"]] == ["demo", "other"]
          and models["data"][0]["max_model_len"] == 512, models)
    check("another name", server.post("/v1/completions", {"prompt": "a", "model": "other"})[0] == 200)
    check("health", server.get("/health") == (200, {"status": "ok"}) and server.get("/ping")[0] == 200)
    check("version", re.match(r"\d+\.\d+\.\d+$", server.get("/version")[1]["version"]))
    long = "In the beginning God created the heaven and the earth. " * 8
    server.post("/v1/completions", {"prompt": long, "max_tokens": 1})
    cached = server.post("/v1/completions", {"prompt": long, "max_tokens": 1})[1]["usage"]["prompt_tokens_details"]
    check("cached tokens", cached["cached_tokens"] >= 64, cached)
    check("idle", server.is_idle(), server.engine())
    engine = server.engine(blocks=True)
    cache = engine["cache"]
    check("blocks", len(engine["blocks"]) == cache["blocks"] and engine["blocks"].count(0) == cache["free"]
          and engine["blocks"].count(-1) == cache["idle"] > 0, cache)
    check("steps", 0 < len(engine["steps"]) <= 256 and all(step["ms"] > 0 and step["tokens"] >= step["sequences"] > 0
                                                           for step in engine["steps"]), engine["steps"][:3])


def parse_metrics(text):
    """Samples by name with labels; checks the format."""
    types, samples = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            check("one type of " + name, name not in types)
            types[name] = kind
        elif not line.startswith("# HELP "):
            found = re.match(r"([a-z0-9_:]+)(\{(?:[a-z_]+=\"(?:[^\"\\\n]|\\.)*\",?)*\}) (\S+)$", line)
            check("a sample: " + line[:60], found and (found.group(1) in types or re.sub(
                "_(bucket|sum|count)$", "", found.group(1)) in types))
            samples[found.group(1) + found.group(2)] = float(found.group(3))
    return types, samples


def check_metrics(server):
    check("idle before the metrics", server.is_idle())
    status, heads, data = server.request("GET", "/metrics")
    types, samples = parse_metrics(data.decode("utf-8"))
    check("metrics", status == 200 and heads["Content-Type"].startswith("text/plain; version=0.0.4"), heads)
    for name, kind in (("vllm:num_requests_running", "gauge"), ("vllm:kv_cache_usage_perc", "gauge"),
                       ("vllm:prefix_cache_hits_total", "counter"), ("vllm:generation_tokens_total", "counter"),
                       ("vllm:request_success_total", "counter"), ("vllm:time_to_first_token_seconds", "histogram"),
                       ("vllm:e2e_request_latency_seconds", "histogram"),
                       ("vllm:iteration_tokens_total", "histogram")):
        check("metric " + name, types.get(name) == kind, types)
    check_dashboard(types)
    labels = "{model_name=\"demo\",engine=\"0\"}"
    check("prefix hits", samples["vllm:prefix_cache_hits_total" + labels] > 0)
    count = samples["vllm:e2e_request_latency_seconds_count" + labels]
    check("buckets", samples["vllm:e2e_request_latency_seconds_bucket" + labels[:-1] + ",le=\"+Inf\"}"] == count > 0)
    finished = [value for name, value in samples.items() if name.startswith("vllm:request_success_total")]
    check("reasons", sum(finished) == count, finished)
    before = samples["vllm:generation_tokens_total" + labels]
    server.post("/v1/completions", {"prompt": "a", "max_tokens": 7, "ignore_eos": True})
    check("idle after a request", server.is_idle())  # The counts are those of the last step.
    _, samples = parse_metrics(server.request("GET", "/metrics")[2].decode("utf-8"))
    check("generated tokens", samples["vllm:generation_tokens_total" + labels] == before + 7)


def check_dashboard(types):
    """The dashboard in deploy/ shows metrics that exist, with the parts that their kinds have."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy", "grafana-dashboard.json")
    with open(path, encoding="utf-8") as stream:
        dashboard = json.load(stream)
    texts = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    texts += [variable["query"]["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
    names = set(re.findall(r"vllm:[a-z0-9_]+", " ".join(texts)))
    known = {name + part for name, kind in types.items()
             for part in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}
    check("the dashboard has metrics", len(names) > 15, names)
    check("the metrics of the dashboard exist", names <= known, sorted(names - known))
    panels = [panel["id"] for panel in dashboard["panels"]]
    check("panels have ids of their own", len(set(panels)) == len(panels), panels)


def check_company(server):
    """Many at once get what each gets alone."""
    bodies = [{"prompt": PROMPT + " " * (i % 3), "max_tokens": 5 + i, "temperature": (0, 0.9)[i % 2], "seed": i}
              for i in range(12)]
    alone = [server.post("/v1/completions", body)[1]["choices"][0]["text"] for body in bodies]
    together = [None] * len(bodies)

    def ask(index):
        stream = server.stream("/v1/completions", dict(bodies[index], stream=True))
        together[index] = "".join(event["choices"][0]["text"] for _, event in stream[:-1])
    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(bodies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("the same in company", together == alone, (together, alone))


def check_log(server):
    lines = server.log()
    check("the log has no prompts", PROMPT not in lines and "beginning" not in lines, lines[-2000:])
    check("the log has requests", re.search(
        r"POST /v1/completions 200 [\d.]+ ms finish=length prompt_tokens=\d+ cached_tokens=\d+ generated_tokens=20",
        lines), lines[-2000:])
    check("the log has the start", all(re.search(text, lines) for text in (
        r"loaded in \d+ ms", r"weights .*, KV cache up to .* blocks of .*, workspace ", r"longest context 512 tokens",
        r"ready after [\d.]+ s")), lines[:2000])


def check_reasoning(llmir, model, work):
    """A model whose template begins the reasoning, and which never ends it."""
    template = os.path.join(work, "thinking.jinja")
    with open(template, "w") as stream:
        stream.write("{{ messages[0].content }}<think>")
    with Server(llmir, model, "--template", template, "--reasoning-parser", "deepseek_r1") as server:
        body = {"messages": [{"role": "user", "content": PROMPT}], "max_tokens": 12, "temperature": 0}
        answer = server.post("/v1/chat/completions", body)[1]
        message = answer["choices"][0]["message"]
        check("reasoning", len(message["reasoning_content"]) > 5 and not message["content"], message)
        check("tokens of reasoning", answer["usage"]["completion_tokens_details"] == {"reasoning_tokens": 12}, answer)
        events = server.stream("/v1/chat/completions", dict(body, stream=True))
        deltas = [event["choices"][0]["delta"] for _, event in events[:-1]]
        check("reasoning as a stream", "".join(delta.get("reasoning_content", "") for delta in deltas)
              == message["reasoning_content"] and not any(delta.get("content") for delta in deltas), deltas)
        response = server.post("/v1/responses", {"input": PROMPT, "max_output_tokens": 12, "temperature": 0})[1]
        check("reasoning of a response", [item["type"] for item in response["output"]] == ["reasoning"]
              and response["output"][0]["content"][0]["text"] == message["reasoning_content"], response)


def check_salts(llmir, model):
    """Clients with different keys or salts do not see each other's prefixes."""
    prompt = {"prompt": "In the beginning God created the heaven and the earth. " * 8, "max_tokens": 1}

    def cached(key, **more):
        answer = server.post("/v1/completions", dict(prompt, **more), {"Authorization": "Bearer " + key})[1]
        return answer["usage"]["prompt_tokens_details"]["cached_tokens"]

    with Server(llmir, model, "--api-key", "one", "--api-key", "two") as server:
        check("nothing is cached", cached("one") == 0)
        check("the same key", cached("one") >= 64)
        check("another key", cached("two") == 0)
        check("a salt", cached("one", cache_salt="a") == 0)
        check("the same salt", cached("one", cache_salt="a") >= 64)
        check("the same salt with another key", cached("two", cache_salt="a") == 0)


def check_defaults(llmir, options):
    """The server samples as generation_config.json says, with do_sample or without, as vLLM does."""
    demo = os.path.join(options.work, "demo-defaults")
    shutil.copytree(options.demo, demo)
    with open(os.path.join(demo, "generation_config.json"), "w") as stream:
        json.dump({"top_k": 1, "temperature": 0.7}, stream)
    model = os.path.join(options.work, "defaults.llmir")
    llmir("compile", demo, "-o", model, "--target", quick_level())
    alone = run(llmir, model, PROMPT, "-n", "30")
    with Server(llmir, model) as server:
        answer = server.post("/v1/completions", {"prompt": PROMPT, "max_tokens": 30})[1]
        check("top_k of generation_config.json", answer["choices"][0]["text"] == alone["text"], (answer, alone))
        answer = server.post("/v1/completions", {"prompt": PROMPT, "max_tokens": 30, "top_k": 0})[1]
        check("not greedy", answer["choices"][0]["text"] != alone["text"], answer)
    help_text = llmir("serve", "--help")
    check("help of --temp", "otherwise 1)" in re.sub(r"\s+", " ", help_text), help_text)


def main():
    options = work_parser(__doc__, "llmir", "demo").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    model, template = compile_demo(llmir, options)
    with Server(llmir, model, "--template", template, "--served-model-name", "demo", "--served-model-name",
                "other") as server:
        check_completions(llmir, model, server)
        check_stops(llmir, model, server)
        check_logprobs(server)
        check_chat(llmir, model, server)
        check_responses(llmir, model, server)
        check_generate(llmir, model, server)
        check_tokens(llmir, model, server)
        check_state(server)
        check_metrics(server)
        check_company(server)
        check_log(server)
    check_reasoning(llmir, model, options.work)
    check_salts(llmir, model)
    check_defaults(llmir, options)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
