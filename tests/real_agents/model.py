#!/usr/bin/env python3
"""A scripted model server for tests of AI coding command-line tools.

It listens on 127.0.0.1 and speaks, streaming or not, as much as agents use of

  OpenAI Responses           POST .../responses
  OpenAI Chat Completions    POST .../chat/completions
  Anthropic Messages         POST .../messages, .../messages/count_tokens
  Gemini                     POST ...:generateContent, :streamGenerateContent, :countTokens
  model lists                GET  .../models

Only the Python standard library is used; no model is called and no key is checked
unless the script asks for one.

    model-stub.py --script SCRIPT.json [--port 0] [--port-file F] [--log LOG.jsonl] [--bodies DIR]

The port is printed on standard output (and written to --port-file). --log gets one JSON
line for each request and one for each connection that the client closed while the stub
was holding it; --bodies gets the request bodies. Headers that carry keys are never logged.

The script
----------
    {
      "require_key": "test-key",          optional: any other key is answered 401
      "rules":   [ {"match": {...}, ...reply}, ... ],   tried first, used any number of times
      "replies": [ reply, reply, ... ],   one for each request that no rule took; the last repeats
                 or {api: [ reply, ... ], ...}, each api with a sequence of its own
      "usage":   {"input": 100, "output": 20, "cached": 0, "reasoning": 0}
    }

match (every key given must hold):
    "api": "responses" | "chat" | "messages" | "gemini"
    "contains": text in the request body        "lacks": text not in it
    "tools": true | false                       the request declares tools or not
    "model": text in the model name

reply (one of, where "text" may stand beside a tool call):
    {"text": "Done."}
    {"text": "Let me look.", "shell": "ls"}     calls whichever shell tool the request declares
    {"tool": {"name": "read_file", "args": {"path": "a.txt"}}}
    {"tools": [{"name": ..., "args": ...}, ...]}
        `{tree}` in an argument is the tree that the last prompt names
    {"error": 429, "message": "slow down", "type": "rate_limit_error", "code": "...",
     "headers": {"retry-after": "1"}}
    {"stream_error": "overloaded", "text": "partial"}   an error event inside a 200 stream
    {"report": "PASS"} or {"report": "NOT PASS"}
        the verdict block that a review prompt in the request asks for: its nonce, tree, receipts
        and files
    {"answers": "fixed"}, {"rulings": "upheld"}, {"challenge": ["an objection"]}
        the block that another prompt asks for, about every finding that it names
    {"hang": "accept" | "headers" | "events"}
        hold the connection: before any byte, after the headers, or after the first half
        of the text, until the client goes away.
    {"cut": true, "text": "partial"}            drop the connection in the middle of a stream
  and beside any of them: "usage": {...}, "model": "name".
"""
import argparse
import json
import os
import re
import select
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

DEFAULT_USAGE = {"input": 100, "output": 20, "cached": 0, "reasoning": 0}

# Names of shell tools in agents' requests, and how each takes a command.
SHELL_TOOLS = {
    "exec_command": lambda c: {"cmd": c},
    "shell_command": lambda c: {"command": c},
    "shell": lambda c: {"command": ["bash", "-lc", c]},
    "Bash": lambda c: {"command": c, "description": "run a command"},
    "bash": lambda c: {"command": c, "description": "run a command"},
    "run_shell_command": lambda c: {"command": c, "description": "run a command"},
}

ANTHROPIC_TYPES = {400: "invalid_request_error", 401: "authentication_error",
                   403: "permission_error", 404: "not_found_error", 413: "request_too_large",
                   429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}
OPENAI_TYPES = {400: "invalid_request_error", 401: "invalid_request_error",
                403: "invalid_request_error", 404: "invalid_request_error",
                429: "rate_limit_error", 500: "server_error", 503: "server_error"}
OPENAI_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
GEMINI_STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
                 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL",
                 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}


class ClientGone(Exception):
    """The client closed its side while the stub was holding the connection."""


def api_of(path):
    if path.endswith("/responses"):
        return "responses"
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/messages"):
        return "messages"
    if path.endswith(":generateContent") or path.endswith(":streamGenerateContent"):
        return "gemini"
    return None


def tool_names(body):
    names = []
    for tool in body.get("tools") or []:
        if not isinstance(tool, dict):
            continue
        if "functionDeclarations" in tool or "function_declarations" in tool:
            for fn in tool.get("functionDeclarations") or tool.get("function_declarations"):
                names.append(fn.get("name"))
        elif isinstance(tool.get("function"), dict):
            names.append(tool["function"].get("name"))
        else:
            names.append(tool.get("name") or tool.get("type"))
            for inner in tool.get("tools") or []:          # namespaces of tools
                names.append(inner.get("name"))
    return [n for n in names if n]


class Script:
    def __init__(self, data):
        self.data = data
        self.lock = threading.Lock()
        self.next = {}

    def choose(self, api, body, raw):
        names = tool_names(body)
        for number, rule in enumerate(self.data.get("rules", [])):
            if self.matches(rule.get("match", {}), api, body, raw, names):
                return "rule %d" % number, rule
        replies = self.data.get("replies")
        of = api if isinstance(replies, dict) else None
        if of:
            replies = replies.get(of)
        replies = replies or [{"error": 500, "message": "the script has no replies"}]
        with self.lock:
            number = min(self.next.get(of, 0), len(replies) - 1)
            self.next[of] = self.next.get(of, 0) + 1
        return "reply %d" % number, replies[number]

    @staticmethod
    def matches(match, api, body, raw, names):
        if "api" in match and match["api"] != api:
            return False
        if "contains" in match and match["contains"] not in raw:
            return False
        if "lacks" in match and match["lacks"] in raw:
            return False
        if "tools" in match and bool(names) != match["tools"]:
            return False
        if "model" in match and match["model"] not in (body.get("model") or ""):
            return False
        return True


def calls_of(reply, names):
    calls = []
    if "shell" in reply:
        for name in SHELL_TOOLS:
            if name in names:
                calls.append({"name": name, "args": SHELL_TOOLS[name](reply["shell"])})
                break
        else:
            raise LookupError("no known shell tool in the request; it declares: %s" % ", ".join(names))
    if "tool" in reply:
        calls.append(reply["tool"])
    calls.extend(reply.get("tools") or [])
    return calls


def halves(text):
    """The text in two pieces, so that every stream has more than one delta."""
    if not text:
        return []
    middle = max(1, len(text) // 2)
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def texts_of(value):
    """Every text in a request, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_of(item)


def filled(value, body):
    """A tool call with `{tree}` replaced."""
    if isinstance(value, dict):
        return {key: filled(item, body) for key, item in value.items()}
    if not isinstance(value, str) or "{tree}" not in value:
        return value
    line = r"^- (?:Review tree|Source tree|Tree): `([^`]+)`"
    named = [re.search(line, text, re.M) for text in texts_of(body)]
    return value.replace("{tree}", [found.group(1) for found in named if found][-1])


def prompt_of(body):
    """The last prompt in a request that has a nonce, and the nonce."""
    prompt = [text for text in texts_of(body) if re.search(r"^Nonce: [0-9a-f]+$", text, re.M)][-1]
    return prompt, re.findall(r"^Nonce: ([0-9a-f]+)$", prompt, re.M)[-1]


def fenced(said, tag, block):
    return "%s\n\n```%s\n%s\n```\n" % (said, tag, json.dumps(dict({"version": 1}, **block), indent=1))


def report_of(body, verdict):
    """A review report for the last prompt in a request."""
    prompt, nonce = prompt_of(body)
    files = re.search(r"^\[begin files [0-9a-f]+\]\n(.*?)^\[end files", prompt, re.M | re.S)
    paths = [line[2:].rsplit(": ", 1)[0] for line in files.group(1).splitlines()]
    receipts = re.findall(r"^(?:\| )?.?receipt (\d+) ([0-9a-f]+)", prompt, re.M)
    found = [] if verdict == "PASS" else [
        {"title": "Wrong", "severity": "high", "path": paths[0], "line": 1, "body": "It is."}]
    plan = re.search(r"^\| #+ Acceptance\n(.*?)^\[end plan", prompt, re.M | re.S)
    items = re.findall(r"^\| (\d+)\. ", plan.group(1), re.M) if plan else []
    return fenced("I read the change.", "run-loop-verdict", {
        "plan": [{"item": int(item), "state": "met", "note": "Seen."} for item in items],
        "nonce": nonce, "tree": re.findall(r"^Tree: ([0-9a-f]+)$", prompt, re.M)[-1],
        "verdict": verdict, "summary": "Read all of it.", "receipts": dict(receipts),
        "coverage": [{"path": path, "how": "read"} for path in paths], "findings": found})


def answer_of(body, reply):
    """An answer to the last prompt in a request, about each finding that it names."""
    prompt, nonce = prompt_of(body)
    found = sorted(set(re.findall(r"^\[begin (F-\d+) [0-9a-f]+\]$", prompt, re.M)))
    if "challenge" in reply:
        return fenced("I read the plan.", "run-loop-challenge",
                      {"nonce": nonce, "objections": reply["challenge"]})
    kind, word = ("answers", "action") if "answers" in reply else ("rulings", "ruling")
    return fenced("I looked at each.", "run-loop-" + kind, {"nonce": nonce, kind: [
        {"finding": finding, word: reply[kind], "note": "As the code shows."} for finding in found]})


# ---- the four protocols: each yields SSE events as (event name or None, data) --------------
# The marker HALF stands where a stream may be hung, cut or failed.
HALF = object()


def responses_body(rid, model, text, calls, usage, status="completed"):
    output = []
    if text:
        output.append({"type": "message", "id": "msg_%s" % rid, "role": "assistant", "status": "completed",
                       "content": [{"type": "output_text", "text": text, "annotations": []}]})
    for n, call in enumerate(calls):
        output.append({"type": "function_call", "id": "fc_%s_%d" % (rid, n), "status": "completed",
                       "call_id": "call_%s_%d" % (rid, n), "name": call["name"],
                       "arguments": json.dumps(call.get("args", {}))})
    return {"id": "resp_%s" % rid, "object": "response", "created_at": int(time.time()), "model": model,
            "status": status, "output": output, "parallel_tool_calls": True, "tool_choice": "auto",
            "tools": [], "error": None, "incomplete_details": None, "instructions": None,
            "metadata": {}, "temperature": 1.0, "top_p": 1.0,
            "usage": {"input_tokens": usage["input"],
                      "input_tokens_details": {"cached_tokens": usage["cached"]},
                      "output_tokens": usage["output"],
                      "output_tokens_details": {"reasoning_tokens": usage["reasoning"]},
                      "total_tokens": usage["input"] + usage["output"]}}


def responses_events(rid, model, text, calls, usage):
    whole = responses_body(rid, model, text, calls, usage)
    bare = dict(whole, status="in_progress", output=[], usage=None)
    seq = [0]

    def event(kind, **data):
        seq[0] += 1
        return kind, dict(data, type=kind, sequence_number=seq[0] - 1)

    yield event("response.created", response=bare)
    yield event("response.in_progress", response=bare)
    for index, item in enumerate(whole["output"]):
        if item["type"] == "message":
            yield event("response.output_item.added", output_index=index,
                        item=dict(item, status="in_progress", content=[]))
            part = {"type": "output_text", "text": "", "annotations": []}
            where = {"item_id": item["id"], "output_index": index, "content_index": 0}
            yield event("response.content_part.added", part=part, **where)
            for number, piece in enumerate(halves(text)):
                if number:
                    yield HALF
                yield event("response.output_text.delta", delta=piece, **where)
            yield event("response.output_text.done", text=text, **where)
            yield event("response.content_part.done", part=item["content"][0], **where)
        else:
            yield event("response.output_item.added", output_index=index,
                        item=dict(item, status="in_progress", arguments=""))
            where = {"item_id": item["id"], "output_index": index}
            yield event("response.function_call_arguments.delta", delta=item["arguments"], **where)
            yield event("response.function_call_arguments.done", arguments=item["arguments"], **where)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)


def responses_error(rid, model, message, code):
    return "response.failed", {"type": "response.failed", "response": dict(
        responses_body(rid, model, "", [], DEFAULT_USAGE, "failed"), usage=None,
        error={"code": code or "server_error", "message": message})}


def chat_usage(usage):
    return {"prompt_tokens": usage["input"], "completion_tokens": usage["output"],
            "total_tokens": usage["input"] + usage["output"],
            "prompt_tokens_details": {"cached_tokens": usage["cached"]},
            "completion_tokens_details": {"reasoning_tokens": usage["reasoning"]}}


def chat_calls(rid, calls, indexed):
    out = []
    for n, call in enumerate(calls):
        item = {"id": "call_%s_%d" % (rid, n), "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call.get("args", {}))}}
        out.append(dict(item, index=n) if indexed else item)
    return out


def chat_body(rid, model, text, calls, usage):
    message = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = chat_calls(rid, calls, False)
    return {"id": "chatcmpl-%s" % rid, "object": "chat.completion", "created": int(time.time()), "model": model,
            "choices": [{"index": 0, "message": message, "logprobs": None,
                         "finish_reason": "tool_calls" if calls else "stop"}],
            "usage": chat_usage(usage)}


def chat_events(rid, model, text, calls, usage):
    def chunk(delta, finish=None, **more):
        return None, dict({"id": "chatcmpl-%s" % rid, "object": "chat.completion.chunk",
                           "created": int(time.time()), "model": model,
                           "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}, **more)

    yield chunk({"role": "assistant", "content": ""})
    for number, piece in enumerate(halves(text)):
        if number:
            yield HALF
        yield chunk({"content": piece})
    if calls:
        yield chunk({"tool_calls": chat_calls(rid, calls, True)})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield None, {"id": "chatcmpl-%s" % rid, "object": "chat.completion.chunk", "created": int(time.time()),
                 "model": model, "choices": [], "usage": chat_usage(usage)}
    yield None, "[DONE]"


def messages_content(rid, text, calls):
    content = [{"type": "text", "text": text}] if text else []
    for n, call in enumerate(calls):
        content.append({"type": "tool_use", "id": "toolu_%s_%d" % (rid, n), "name": call["name"],
                        "input": call.get("args", {})})
    return content


def messages_usage(usage):
    return {"input_tokens": usage["input"] - usage["cached"], "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage["cached"], "output_tokens": usage["output"],
            "service_tier": "standard"}


def messages_body(rid, model, text, calls, usage):
    return {"id": "msg_%s" % rid, "type": "message", "role": "assistant", "model": model,
            "content": messages_content(rid, text, calls), "stop_sequence": None,
            "stop_reason": "tool_use" if calls else "end_turn", "usage": messages_usage(usage)}


def messages_events(rid, model, text, calls, usage):
    whole = messages_body(rid, model, text, calls, usage)
    start = dict(whole, content=[], stop_reason=None, usage=dict(whole["usage"], output_tokens=1))
    yield "message_start", {"type": "message_start", "message": start}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            yield "content_block_start", {"type": "content_block_start", "index": index,
                                          "content_block": {"type": "text", "text": ""}}
            for number, piece in enumerate(halves(block["text"])):
                if number:
                    yield HALF
                yield "content_block_delta", {"type": "content_block_delta", "index": index,
                                              "delta": {"type": "text_delta", "text": piece}}
        else:
            yield "content_block_start", {"type": "content_block_start", "index": index,
                                          "content_block": dict(block, input={})}
            yield "content_block_delta", {"type": "content_block_delta", "index": index,
                                          "delta": {"type": "input_json_delta",
                                                    "partial_json": json.dumps(block["input"])}}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield "message_delta", {"type": "message_delta",
                            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
                            "usage": {"output_tokens": usage["output"]}}
    yield "message_stop", {"type": "message_stop"}


def gemini_body(rid, model, text, calls, usage, last=True):
    parts = [{"text": text}] if text else []
    for n, call in enumerate(calls):
        parts.append({"functionCall": {"id": "call_%s_%d" % (rid, n), "name": call["name"],
                                       "args": call.get("args", {})}})
    candidate = {"index": 0, "content": {"role": "model", "parts": parts or [{"text": ""}]}}
    body = {"candidates": [candidate], "modelVersion": model, "responseId": rid}
    if last:
        candidate["finishReason"] = "STOP"
        body["usageMetadata"] = {"promptTokenCount": usage["input"], "candidatesTokenCount": usage["output"],
                                 "cachedContentTokenCount": usage["cached"],
                                 "thoughtsTokenCount": usage["reasoning"],
                                 "totalTokenCount": usage["input"] + usage["output"] + usage["reasoning"]}
    return body


def gemini_events(rid, model, text, calls, usage):
    pieces = halves(text)
    for number, piece in enumerate(pieces):
        if number:
            yield HALF
        yield None, gemini_body(rid, model, piece, [], usage,
                                last=number == len(pieces) - 1 and not calls)
    if calls or not pieces:
        yield None, gemini_body(rid, model, "", calls, usage)


BODIES = {"responses": responses_body, "chat": chat_body, "messages": messages_body, "gemini": gemini_body}
EVENTS = {"responses": responses_events, "chat": chat_events, "messages": messages_events,
          "gemini": gemini_events}


def error_body(api, status, reply, rid):
    message = reply.get("message") or "scripted error %d" % status
    if api == "messages":
        return {"type": "error", "request_id": "req_%s" % rid,
                "error": {"type": reply.get("type") or ANTHROPIC_TYPES.get(status, "api_error"),
                          "message": message}}
    if api == "gemini":
        return {"error": {"code": status, "message": message,
                          "status": reply.get("type") or GEMINI_STATUS.get(status, "UNKNOWN"),
                          "details": reply.get("details", [])}}
    return {"error": {"message": message, "param": None,
                      "type": reply.get("type") or OPENAI_TYPES.get(status, "server_error"),
                      "code": reply.get("code") or OPENAI_CODES.get(status)}}


def stream_error(api, rid, model, reply):
    message = reply["stream_error"] if isinstance(reply["stream_error"], str) else "scripted stream error"
    if api == "responses":
        return responses_error(rid, model, message, reply.get("code"))
    return ("error" if api == "messages" else None), error_body(
        api, reply.get("status", 529 if api == "messages" else 500), {**reply, "message": message}, rid)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "ScriptedModel/1"

    def log_message(self, *_):
        pass

    def note(self, **fields):
        self.server.note(fields)

    # -- plumbing
    def send_json(self, status, body, headers=None):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(data)

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def send_event(self, event):
        name, data = event
        text = "" if name is None else "event: %s\n" % name
        text += "data: %s\n\n" % (data if isinstance(data, str) else json.dumps(data))
        self.chunk(text.encode())

    def hold(self):
        """Keep the connection open without a byte until the client goes away."""
        self.close_connection = True
        start = time.monotonic()
        while True:
            select.select([self.connection], [], [])
            try:
                # What it says meanwhile is not heard.
                gone = self.connection.recv(65536) == b""
            except OSError:
                gone = True
            if gone:
                self.note(event="client closed a held connection", request=self.number,
                          after_s=round(time.monotonic() - start, 2))
                raise ClientGone

    def drop(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def body_bytes(self):
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            data = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0].strip() or b"0", 16)
                if size == 0:
                    while self.rfile.readline().strip():
                        pass
                    return data
                data += self.rfile.read(size)
                self.rfile.readline()
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def key(self):
        bearer = self.headers.get("Authorization") or ""
        return (self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")
                or (bearer[7:] if bearer.lower().startswith("bearer ") else bearer))

    # -- requests
    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        path = urlsplit(self.path).path
        self.number = self.server.count()
        if path.rstrip("/").endswith("/models"):
            models = self.server.script.data.get("models", ["stub-model"])
            self.note(request=self.number, method="GET", path=path, reply="models")
            self.send_json(200, {"object": "list", "has_more": False,
                                 "data": [{"id": m, "object": "model", "type": "model", "created": 0,
                                           "display_name": m, "owned_by": "stub"} for m in models],
                                 "models": [{"name": "models/%s" % m} for m in models]
                                 if "/v1beta/" in path else []})
        else:
            self.note(request=self.number, method="GET", path=path, reply="404",
                      upgrade=self.headers.get("Upgrade"))
            self.send_json(404, {"error": {"message": "not served: GET %s" % path, "type": "not_found_error"}})

    def do_POST(self):
        self.number = self.server.count()
        raw = self.body_bytes()
        try:
            self.answer(raw)
        except ClientGone:
            self.drop()
        except (BrokenPipeError, ConnectionResetError):
            self.note(event="client closed while the stub was writing", request=self.number)
            self.close_connection = True

    def answer(self, raw):
        path = urlsplit(self.path).path
        text = raw.decode("utf-8", "replace")
        try:
            body = json.loads(text) if text else {}
        except ValueError:
            body = {}
        if not isinstance(body, dict):
            body = {}
        self.server.keep_body(self.number, raw)
        api = api_of(path)
        rid = "stub%04d" % self.number
        entry = {"request": self.number, "method": "POST", "path": path, "bytes": len(raw)}
        if path.endswith("/count_tokens"):
            self.note(reply="count", **entry)
            return self.send_json(200, {"input_tokens": max(1, len(raw) // 4)})
        if path.endswith(":countTokens"):
            self.note(reply="count", **entry)
            return self.send_json(200, {"totalTokens": max(1, len(raw) // 4)})
        if api is None:
            self.note(reply="404", **entry)
            return self.send_json(404, {"error": {"message": "not served: POST %s" % path,
                                                  "type": "not_found_error"}})
        names = tool_names(body)
        model = body.get("model") or path.rsplit("/", 1)[-1].split(":")[0]
        stream = path.endswith(":streamGenerateContent") if api == "gemini" else bool(body.get("stream"))
        wanted = self.server.script.data.get("require_key")
        if wanted and self.key() != wanted:
            chosen, reply = "wrong key", {"error": 401, "message": "invalid api key"}
        else:
            chosen, reply = self.server.script.choose(api, dict(body, model=model), text)
        self.note(api=api, model=model, stream=stream, tools=names, reply=chosen, **entry)
        usage = dict(DEFAULT_USAGE, **self.server.script.data.get("usage", {}), **reply.get("usage", {}))
        model = reply.get("model", model)
        if "error" in reply:
            return self.send_json(reply["error"], error_body(api, reply["error"], reply, rid),
                                  reply.get("headers"))
        hang = reply.get("hang")
        if hang == "accept":
            self.hold()
        if "report" in reply:
            reply = dict(reply, text=report_of(body, reply["report"]))
        elif any(kind in reply for kind in ("answers", "rulings", "challenge")):
            reply = dict(reply, text=answer_of(body, reply))
        said = reply.get("text") or ("Partial answer." if hang or "cut" in reply or "stream_error" in reply else "")
        try:
            calls = [filled(call, body) for call in calls_of(reply, names)]
        except LookupError as problem:
            return self.send_json(400, error_body(api, 400, {"message": "script: %s" % problem}, rid))
        if not stream:
            if hang or reply.get("cut"):
                if hang:
                    self.hold()
                return self.drop()
            if "stream_error" in reply:
                return self.send_json(500, error_body(api, 500, {"message": str(reply["stream_error"])}, rid))
            return self.send_json(200, BODIES[api](rid, model, said, calls, usage))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("request-id", "req_%s" % rid)
        self.end_headers()
        self.wfile.flush()
        if hang == "headers":
            self.hold()
        for event in EVENTS[api](rid, model, said, calls, usage):
            if event is not HALF:
                self.send_event(event)
            elif hang:
                self.hold()
            elif reply.get("cut"):
                return self.drop()
            elif "stream_error" in reply:
                self.send_event(stream_error(api, rid, model, reply))
                break
        self.chunk(b"")


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port, script, log=None, bodies=None):
        super().__init__(("127.0.0.1", port), Handler)
        self.script = Script(script)
        self.log_path, self.bodies = log, bodies
        self.started = time.monotonic()
        self.lock = threading.Lock()
        self.requests = 0

    def count(self):
        with self.lock:
            self.requests += 1
            return self.requests

    def note(self, fields):
        if self.log_path:
            line = json.dumps(dict({"t": round(time.monotonic() - self.started, 2)}, **fields))
            with self.lock, open(self.log_path, "a") as log:
                log.write(line + "\n")

    def keep_body(self, number, raw):
        if self.bodies:
            os.makedirs(self.bodies, exist_ok=True)
            with open(os.path.join(self.bodies, "%04d.json" % number), "wb") as out:
                out.write(raw)

    def handle_error(self, request, client_address):
        problem = sys.exc_info()[1]
        if not isinstance(problem, (ConnectionError, BrokenPipeError)):
            self.note({"event": "stub error", "problem": repr(problem)})


def end_with_stdin():
    """Whoever asked for the model may be killed, and tells nobody."""
    sys.stdin.buffer.read()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description="A scripted model server for tests, on loopback.")
    parser.add_argument("--script", required=True, help="JSON file with the replies")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", help="gets the port once the server listens")
    parser.add_argument("--log", help="gets a JSON line for each request")
    parser.add_argument("--bodies", help="folder that gets the request bodies")
    parser.add_argument("--while-open", action="store_true", help="end when standard input does")
    args = parser.parse_args()
    with open(args.script) as source:
        script = json.load(source)
    server = Server(args.port, script, args.log, args.bodies)
    port = server.server_address[1]
    print(port, flush=True)
    if args.port_file:
        with open(args.port_file + ".tmp", "w") as out:
            out.write("%d\n" % port)
        os.replace(args.port_file + ".tmp", args.port_file)
    if args.while_open:
        threading.Thread(target=end_with_stdin, daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
