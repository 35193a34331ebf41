#!/usr/bin/python3
# What a server says of usage is not to be trusted: caps hold, and what is not known is not zero.
import json
import os
import sys
sys.dont_write_bytecode = True
import hostile
import tap
from tap import ok, same


def reply(n, usage):
    """The nth program, wrong in a way of its own, so that there is a repair."""
    text = "```python\nprint(%d / 0)\n```" % n
    value = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    return hostile.answer(json.dumps(dict(value, usage=usage) if usage is not None else value))


def ask(usage, *flags):
    """The result, and how often the server was asked."""
    config = os.path.join(tap.work, "prices.ini")
    with open(config, "w") as file:
        file.write("[prices]\nm = 1,2\n")
    with hostile.serve(hostile.in_turn(*[reply(n, usage) for n in range(1, 30)])) as server:
        done = tap.assay("ask", "--json", "--no-stream", "--provider", "openai", "-m", "m", "--config",
                         config, "--base-url", "http://127.0.0.1:%d/v1" % server.port, "--lang",
                         "python", "--role-model", "plan=off", "--max-attempts", "25", "--retries", "0",
                         *flags, "x", OPENAI_API_KEY="k-1234567", http_proxy="", HTTP_PROXY="")
        return done, done.json(), len(server.requests)


def test_more_than_asked_for():
    usage = {"prompt_tokens": 10, "completion_tokens": 1000000}
    for cap in (("--max-tokens", "20000"), ("--max-cost", "0.05")):
        done, j, asked = ask(usage, *cap, *([] if cap[0] == "--max-tokens" else ["--max-tokens", "9000000"]))
        name = "a server that counts more than max_tokens, %s: " % cap[0]
        same((done.code, j["status"], asked), (3, "budget", 1), name + "no second call")
        same((j["usage"]["output_tokens"], j["usage"]["source"], j["cost_usd"]), (1000000, "reported", 2.00001),
             name + "what it says is recorded")
        ok(cap[0] in j["error"], name + "the message names the cap", j["error"])


def test_no_usage():
    for usage, source in ((None, "none"), ({}, "none"), ({"prompt_tokens": "many"}, "none"),
                          ({"prompt_tokens": 0, "completion_tokens": 0}, "none"),
                          ({"prompt_tokens": 10 ** 18, "completion_tokens": -5}, "none")):
        name = "usage %s: " % json.dumps(usage)
        done, j, asked = ask(usage, "--max-tokens", "30000")
        same((done.code, j["status"], j["cost_usd"], j["usage"]["source"]), (3, "budget", None, source),
             name + "the cap holds, the cost is not known")
        ok(1 <= asked <= 10, name + "each call counts as what was reserved for it", asked)
        done, j, asked = ask(usage, "--max-cost", "0.05", "--max-tokens", "9000000")
        same((done.code, j["status"], j["cost_usd"]), (3, "budget", None), name + "--max-cost holds, too")
        ok(1 <= asked <= 10, name + "by the worst that each call can cost", asked)


def body():
    test_more_than_asked_for()
    test_no_usage()


tap.main(body)
