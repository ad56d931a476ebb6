#!/usr/bin/env python3
"""A driver for driver protocol v1 in Python 3, with the standard library alone.

It is written to be read by whoever writes a driver. What the protocol asks for:

* one JSON object a line, UTF-8, on stdin and stdout; nothing else ever goes to stdout;
* every request is answered, in order: driver.hello, driver.prepare, then any number of driver.invoke;
* an invocation sends observations whose sequence numbers rise, and exactly one driver.completed;
* driver.cancel and the end of stdin make it stop.

Large data goes over the companion channel, here in its simplest form: a serial peer, without credit.

Run it under a host: sluice run --grant-all --input FILE --operation tokenise -- python3 driver.py
"""

import codecs
import hashlib
import json
import os
import platform
import re
import socket
import stat
import sys
import threading
import time
import traceback

MAX_FRAME = 1024 * 1024
CHUNK = 64 * 1024
WORDS_PER_OBSERVATION = 4
MAX_DATA = 256 * 1024
MAX_HEADER = 4 * 1024
# What mirror holds at most.
MAX_MIRRORED = 64 * 1024 * 1024
# Four words of this length stay below MAX_FRAME, however they are escaped.
MAX_WORD = 16 * 1024
WHITE_SPACE = re.compile(r"[ \t\n\v\f\r]+")

VERSIONS = {"minimum": "1.0.0", "maximum": "1.0.0"}
READ_INPUT = "read-input"
# One code for each class of failure that this driver answers with.
CODES = {
    "invalid_request": -32600,
    "driver_internal": -32603,
    "invalid_state": -32001,
    "permission_denied": -32002,
    "capability_mismatch": -32004,
    "unsupported_rpc_version": -32008,
}


class Refusal(Exception):
    """Becomes an error response: a class of the protocol's taxonomy and a message."""

    def __init__(self, error_class, message):
        super().__init__(message)
        self.error_class = error_class


class Cancelled(Exception):
    """The host does not want the invocation any more, or has gone."""


class InputAborted(Exception):
    """The host gave the input up: its source failed, or it cancels the invocation."""


# Frames ----------------------------------------------------------------------------------------


def canonical(value):
    """RFC 8785 for what this driver sends: ASCII names, and no number but whole ones below 2**53."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8")


def parse(line):
    """Reads a frame; a member that comes twice, NaN or bad UTF-8 is refused, not guessed at."""

    def unique(members):
        if len(dict(members)) < len(members):
            raise ValueError("a member comes twice")
        return dict(members)

    def no_constant(name):
        raise ValueError(f"{name} is not JSON")

    return json.loads(line.decode("utf-8"), object_pairs_hook=unique, parse_constant=no_constant)


class Channel:
    """Writes frames whole and in order, whichever thread sends them."""

    def __init__(self, descriptor):
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def send(self, message):
        # Written at once and by descriptor: no buffer that would have to be flushed before the exit,
        # and none that fails at the exit when the host has gone.
        rest = memoryview(canonical({"jsonrpc": "2.0", **message}) + b"\n")
        with self._lock:
            while rest:
                rest = rest[os.write(self._descriptor, rest):]


# The companion channel -------------------------------------------------------------------------

COMPANION = "sluice.companion.v1"


def open_companion():
    """Opens the channel that the environment names; without one, or when it cannot be opened, None."""
    # Taken out of the environment at once: no subprocess is to see them.
    address = os.environ.pop("SLUICE_COMPANION", None)
    token = os.environ.pop("SLUICE_COMPANION_TOKEN", None)
    if address is None:
        return None
    try:
        return Companion(connect(address), token)
    except (OSError, ValueError) as error:
        print(f"the companion channel cannot be opened: {error}", file=sys.stderr)
        return None


def connect(address):
    kind, _, place = address.partition(":")
    if kind == "fd":
        # A wrapper may have closed it, and something else may have taken its number.
        if not stat.S_ISSOCK(os.fstat(int(place)).st_mode):
            raise ValueError(f"descriptor {place} is no socket")
        os.set_inheritable(int(place), False)
        return socket.socket(fileno=int(place))
    if kind == "unix":
        channel = socket.socket(socket.AF_UNIX)
        channel.connect(place)
        return channel
    if kind == "tcp":
        host, _, port = place.rpartition(":")
        return socket.create_connection((host, int(port)))
    raise ValueError(f"an address of kind {kind} is not known here")


class Companion:
    """One end of the channel, as a serial peer: one stream at a time each way, no credit, no stops.

    Everything is a block: its length as a varint, then its bytes. A block of JSON with a type is about
    the channel or a stream as a whole; one without is a header, and the block after it is the payload.
    """

    def __init__(self, channel, token):
        self._channel = channel
        self._source = channel.makefile("rb")
        self._greeted = False
        hello = {"type": "hello", "protocol": COMPANION, "max_frame_bytes": MAX_DATA, "window": 0}
        # The driver speaks first; a window of 0 says that it is serial.
        self._write(canonical({**hello, "token": token} if token is not None else hello))

    def send(self, ids, stream_id, chunks, summary):
        """Sends one stream: frames that count from 0, then an empty final one, or an abort."""
        self._greet()
        stream = {**ids, "stream_id": stream_id}
        digest, sequence, length, end = hashlib.sha256(), 0, 0, "abort"
        try:
            for chunk in chunks:
                self._frame({**stream, "sequence": sequence, "final": False}, chunk)
                digest.update(chunk)
                length += len(chunk)
                sequence += 1
            self._frame({**stream, "sequence": sequence, "final": True}, b"")
            end = "final"
        finally:
            # Whatever became of the source: no other stream may begin before this one has ended.
            if end == "abort":
                self._write(canonical({**stream, "type": "abort", "reason": "the source ended early"}))
            told = {"end": end, "id": stream_id, "length": length, "sha256": digest.hexdigest()}
            summary.update(canonical(told) + b"\n")

    def receive(self, ids, stream_id):
        """Yields the payloads of one stream; what is not asked for, a later call skips."""
        self._greet()
        wanted = {**ids, "stream_id": stream_id}
        while True:
            head = parse(self._block(MAX_HEADER))
            payload = self._block(MAX_DATA) if "type" not in head else None
            if any(head.get(name) != value for name, value in wanted.items()):
                continue
            if payload is None:
                raise InputAborted(f"the host aborted the input: {head.get('reason')}")
            if payload:
                yield payload
            if head["final"]:
                return

    def _greet(self):
        """No stream goes either way before the host's hello."""
        if not self._greeted:
            hello = parse(self._block(MAX_HEADER))
            if hello.get("type") != "hello" or hello.get("protocol") != COMPANION:
                raise ValueError("the companion channel does not begin with the host's hello")
            self._greeted = True

    def _frame(self, header, payload):
        self._write(canonical({**header, "length": len(payload)}), payload)

    def _write(self, *blocks):
        data = b"".join(part for block in blocks for part in (varint(len(block)), block))
        try:
            self._channel.sendall(data)
        except BrokenPipeError as error:
            # Not the end of stdout, which would mean that the host has gone.
            raise EOFError("the companion channel ended") from error

    def _block(self, longest):
        length, shift = 0, 0
        while True:
            byte = self._exactly(1)[0]
            length |= (byte & 127) << shift
            shift += 7
            if length > longest or shift > 28:
                raise ValueError("a block of the companion channel is too long")
            if byte < 128:
                return self._exactly(length)

    def _exactly(self, size):
        data = self._source.read(size)
        if len(data) < size:
            raise EOFError("the companion channel ended")
        return data


def varint(number):
    """The length of a block: seven bits a byte, the lowest first, the high bit where more follow."""
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


# Invocations -----------------------------------------------------------------------------------


class Invocation:
    """One invocation: numbers its observations and keeps the running digest of them."""

    def __init__(self, params, channel, companion):
        self.id = params["invocation_id"]
        self.operation = params["operation"]
        self.handle = params["ephemeral_exact_input_handle"]
        self.cancelled = threading.Event()
        self._ids = {"invocation_id": self.id, "attempt_id": params["attempt_id"]}
        self._channel = channel
        self._companion = companion
        self._summary = hashlib.sha256()
        self._streams = hashlib.sha256()
        self._sequence = 0

    def input(self):
        """Yields the exact input, wherever the host has put it."""
        kind, value = self.handle["kind"], self.handle["value"]
        if kind == "pipe" and value.startswith("companion:"):
            stream_id = value.removeprefix("companion:")
            if stream_id != "none":
                yield from self._companion.receive(self._ids, stream_id)
            return
        if kind == "memfd":
            raise ValueError("input of kind memfd cannot be opened here")
        source = connect(f"unix:{value}").makefile("rb") if kind == "socket" else open(value, "rb")
        with source:
            while chunk := source.read1(CHUNK):
                yield chunk

    def observe_data(self, kind, stream_id, chunks):
        """Announces a stream and sends it whole before it returns: one at a time."""
        if self._companion is None:
            raise ValueError("the host has offered no companion channel")
        self.observe(kind, stream_id=stream_id)
        self._companion.send(self._ids, stream_id, self._uncancelled(chunks), self._streams)

    def _uncancelled(self, chunks):
        for chunk in chunks:
            self._heed_cancel()
            yield chunk

    def _heed_cancel(self):
        if self.cancelled.is_set():
            raise Cancelled

    def observe(self, kind, payload=None, stream_id=None):
        # The one place that every operation passes again and again, so a cancel is heeded here. Writing
        # blocks while the host does not read: that is the backpressure.
        self._heed_cancel()
        self._sequence += 1
        seen = {"kind": kind, "sequence": self._sequence}
        if stream_id is None:
            seen = told = {**seen, "payload": payload}
        else:
            seen, told = {**seen, "data_stream": {"stream_id": stream_id}}, {**seen, "stream": stream_id}
        self._summary.update(canonical(told) + b"\n")
        params = {**self._ids, **seen, "monotonic_ns": time.monotonic_ns()}
        self._channel.send({"method": "driver.observation", "params": params})

    def complete(self, status):
        params = {**self._ids, "status": status, "summary_digest": self._digest()}
        if self._sequence > 0:
            params["last_sequence"] = self._sequence
        self._channel.send({"method": "driver.completed", "params": params})

    def _digest(self):
        """The rule of sluice.summary.v1: the observations' digest, then that of the streams as they ended."""
        text = f"{self._summary.hexdigest()}\n{self._streams.hexdigest()}\n"
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def report(words, invocation):
    words = [word for word in words if word]
    if any(len(word) > MAX_WORD for word in words):
        raise ValueError(f"a word is longer than {MAX_WORD} characters")
    for start in range(0, len(words), WORDS_PER_OBSERVATION):
        invocation.observe("words", words[start:start + WORDS_PER_OBSERVATION])
    return len(words)


def tokenise(invocation):
    """Splits the input into words, a few an observation, and ends with its digest."""
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")("replace")
    size, words, rest = 0, 0, ""
    for chunk in invocation.input():
        digest.update(chunk)
        size += len(chunk)
        # A chunk may end within a character, which the decoder keeps, or within a word, kept here.
        *pieces, rest = WHITE_SPACE.split(rest + decoder.decode(chunk))
        words += report(pieces, invocation)
        if len(rest) > MAX_WORD:
            raise ValueError(f"a word is longer than {MAX_WORD} characters")
    words += report([rest + decoder.decode(b"", final=True)], invocation)
    result = {"bytes": size, "words": words, "digest": f"sha256:{digest.hexdigest()}"}
    invocation.observe("input.digest", result)


def mirror(invocation):
    """Sends the input back four times, as streams of the companion channel, one after the other."""
    chunks, size = [], 0
    for chunk in invocation.input():
        size += len(chunk)
        if size > MAX_MIRRORED:
            raise ValueError(f"the input is longer than {MAX_MIRRORED} bytes")
        chunks.append(chunk)
    for number in range(1, 5):
        invocation.observe_data("mirror", f"mirror-{number}", chunks)


def count(invocation):
    """Counts until it is cancelled."""
    n = 0
    while True:
        n += 1
        invocation.observe("tick", {"n": n})
        invocation.cancelled.wait(0.02)  # Unlike a sleep it ends with the cancel.


def fail(invocation):
    """Fails, so that a host can see what that looks like."""
    invocation.observe("progress", {"step": "about to fail"})
    raise RuntimeError("this operation always fails")


OPERATIONS = {"tokenise": tokenise, "mirror": mirror, "count": count, "fail": fail}
NEEDS = {"tokenise": READ_INPUT, "mirror": READ_INPUT}

CAPABILITIES = {
    "operations": list(OPERATIONS),
    "streaming": True,
    "cancellation": True,
    "retry_observed": False,
    "concurrency": False,
    "max_concurrency": 1,
}


# The session -----------------------------------------------------------------------------------


def identity():
    with open(__file__, "rb") as source:
        digest = hashlib.sha256(source.read()).hexdigest()
    return {
        "name": "example-driver-python",
        "version": "1.0.0",
        "runtime_name": "python",
        "runtime_version": platform.python_version(),
        "os": sys.platform,
        "architecture": platform.machine(),
        "artifact_digest": f"sha256:{digest}",
    }


def number(version):
    """1.0 and 1.0.0 are the same version, and 1.10 comes after 1.9."""
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9}){0,3}", version):
        raise Refusal("unsupported_rpc_version", "the versions must be numbers with dots between them")
    parts = [int(part) for part in version.split(".")]
    return parts + [0] * (4 - len(parts))


class Driver:
    """Answers the host's requests; an invocation runs in a thread of its own, so that a cancel is read."""

    def __init__(self, channel, companion):
        self._channel = channel
        self._companion = companion
        protocols = ["sluice.summary.v1"] + ([COMPANION] if companion is not None else [])
        self._capabilities_now = {**CAPABILITIES, "protocols": protocols}
        self._state = "new"
        self._permissions = []
        self._active = None
        self._thread = None
        self._handlers = {
            "driver.hello": self._hello,
            "driver.prepare": self._prepare,
            "driver.capabilities": self._capabilities,
            "driver.invoke": self._invoke,
            "driver.cancel": self._cancel,
            "driver.reset": self._reset,
            "driver.shutdown": self._shutdown,
        }

    def serve(self, source):
        """Returns when the host has asked for the end, has closed stdin, or has gone."""
        while self._state != "shutdown":
            line = source.readline(MAX_FRAME + 1)
            if not line.endswith(b"\n"):
                if len(line) > MAX_FRAME:
                    raise ValueError(f"a frame is longer than {MAX_FRAME} bytes")
                break
            self._answer(parse(line))

    def stop(self):
        """Cancels what is under way and gives it a moment."""
        if self._active is not None:
            self._active.cancelled.set()
        if self._thread is not None:
            self._thread.join(timeout=1)

    def _answer(self, request):
        response, then = {"id": request["id"]}, None
        try:
            if request["method"] not in self._handlers:
                raise Refusal("invalid_request", f"{request['method']} is not a method of this protocol")
            response["result"], then = self._handlers[request["method"]](request.get("params") or {})
        except Refusal as refusal:
            response["error"] = self._error(refusal.error_class, str(refusal))
        except (KeyError, TypeError) as error:
            response["error"] = self._error("invalid_request", f"params do not fit: {error}")
        self._channel.send(response)
        # Only now: the host must read that the invocation was accepted before it reads what it observed.
        if then is not None:
            then()

    @staticmethod
    def _error(error_class, message):
        return {"code": CODES[error_class], "message": message[:1000], "data": {"class": error_class}}

    def _expect(self, state):
        if self._state != state:
            raise Refusal("invalid_state", f"not allowed in state {self._state}")
        if self._active is not None:
            raise Refusal("invalid_state", "not allowed while an invocation is under way")

    def _hello(self, params):
        self._expect("new")
        theirs = params["core_version_range"]
        lowest = max(number(theirs["minimum"]), number(VERSIONS["minimum"]))
        if lowest > min(number(theirs["maximum"]), number(VERSIONS["maximum"])):
            raise Refusal("unsupported_rpc_version", "this driver speaks 1.0.0 only")
        self._state = "hello"
        return {
            "driver_version_range": VERSIONS,
            "identity": identity(),
            "capabilities": self._capabilities_now,
            "requested_permissions": [READ_INPUT],
        }, None

    def _prepare(self, params):
        self._expect("hello")
        # The plan's digest and the capability token come here too; a secret is kept nowhere.
        self._permissions = [name for name in params["approved_permissions"] if name == READ_INPUT]
        self._state = "prepared"
        return {"accepted_permissions": self._permissions}, None

    def _capabilities(self, _params):
        return {"capabilities": self._capabilities_now}, None

    def _invoke(self, params):
        self._expect("prepared")
        invocation = Invocation(params, self._channel, self._companion)
        if invocation.operation not in OPERATIONS:
            raise Refusal("capability_mismatch", f"operation {invocation.operation} is not offered")
        needed = NEEDS.get(invocation.operation)
        if needed is not None and needed not in self._permissions:
            raise Refusal("permission_denied", f"{invocation.operation} needs the permission {needed}")
        self._active = invocation
        self._thread = threading.Thread(target=self._run, args=(invocation,), daemon=True)
        return {}, self._thread.start

    def _run(self, invocation):
        try:
            try:
                OPERATIONS[invocation.operation](invocation)
                status = "completed"
            except Cancelled:
                status = "cancelled"
            except InputAborted:
                # A cancel aborts the input first, and comes by the other channel a moment later.
                cancelled = invocation.cancelled.wait(0.5)
                if not cancelled:
                    traceback.print_exc()
                status = "cancelled" if cancelled else "errored"
            except BrokenPipeError:
                raise
            except Exception:
                traceback.print_exc()  # To stderr, which the host shows; the frame carries the status only.
                status = "cancelled" if invocation.cancelled.is_set() else "errored"
            # Before the completion goes out: the host may invoke again as soon as it has read it.
            self._active = None
            invocation.complete(status)
        except BrokenPipeError:
            pass  # The host has gone: nobody is left to tell, and stdin ends too.

    def _cancel(self, params):
        # It may have ended meanwhile; the host knows that and ignores the refusal.
        active = self._active
        if active is None or active.id != params["invocation_id"]:
            raise Refusal("invalid_request", "that invocation is not under way")
        return {"acknowledged": True}, active.cancelled.set

    def _reset(self, _params):
        self._expect("prepared")
        return {}, None

    def _shutdown(self, _params):
        self._expect("prepared")
        self._state = "shutdown"
        return {}, None


def main():
    # First of all, before anything here is opened and may get the number of a descriptor that a wrapper
    # has closed.
    companion = open_companion()
    # Frames have the old stdout to themselves; whatever prints, here or in a library, goes to stderr.
    # The duplicate is not inherited, so that no subprocess can hold the host's pipe open.
    channel = Channel(os.dup(1))
    os.dup2(2, 1)
    driver = Driver(channel, companion)
    code = 0
    try:
        driver.serve(sys.stdin.buffer)
    except BrokenPipeError:
        pass  # The host has gone.
    except Exception:
        traceback.print_exc()
        code = 1
    driver.stop()
    sys.stderr.flush()
    # Not sys.exit(): an operation that does not heed its cancel must not keep the process alive.
    os._exit(code)


if __name__ == "__main__":
    main()
