"""A hub to download from: a local server that answers as the Hugging Face hub does, and can be told to misbehave.

    with HubFixture() as hub:
        hub.add("owner/name", {"config.json": b"{}", "model.safetensors": data})
        hub.faults["model.safetensors"] = [Cut(100), Status(503, retry_after=1)]   # one for each request, then none
        run(env={"HF_ENDPOINT": hub.url})
        hub.requests   # what was asked

Files above LFS_FROM bytes are "large": the hub redirects them, with a signed query, to a storage server on another host
name (127.0.0.1 instead of localhost), and lists their SHA-256. Python's standard library alone.
"""
import collections
import hashlib
import http.server
import json
import re
import socket
import socketserver
import ssl
import struct
import threading
import time
import urllib.parse

LFS_FROM = 64


class Status:
    """An answer with this status instead of the file."""

    def __init__(self, status, retry_after=None, code=None, body=b"no", kind="text/plain"):
        self.status, self.retry_after, self.code, self.body, self.kind = status, retry_after, code, body, kind


class Cut:
    """The connection ends after n bytes of the body: closed, or reset."""

    def __init__(self, n, reset=False):
        self.n, self.reset = n, reset


class Drip:
    """The body comes in pieces of n bytes, with a pause of some seconds between them."""

    def __init__(self, n, pause):
        self.n, self.pause = n, pause


class Change:
    """Another body: change(bytes) -> bytes, with the length of that body."""

    def __init__(self, change):
        self.change = change


class NoRange:
    """The request's range is ignored: the whole file with status 200."""


class WrongRange:
    """A part that begins elsewhere."""


Request = collections.namedtuple("Request", "method host path headers")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.handle_request(False)

    def do_GET(self):
        self.handle_request(True)

    def handle_request(self, with_body):
        hub = self.server.hub
        url = urllib.parse.urlsplit(self.path)
        host = self.headers.get("Host", "").split(":")[0]
        path = urllib.parse.unquote(url.path)
        with hub.lock:
            hub.requests.append(Request(self.command, host, self.path, dict(self.headers.items())))
        if hub.token and host == "localhost" and self.headers.get("Authorization") != f"Bearer {hub.token}":
            return self.send(401, b"{}", code=hub.deny_code)
        tree = re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)", path)
        if tree:
            return self.answer_tree(tree.group(1), with_body)
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", path)
        resolve = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        storage = re.fullmatch(r"/storage/(.+)", path)
        if api:
            return self.answer_api(api.group(1), api.group(2) or "main", with_body)
        if resolve:
            return self.answer_file(*resolve.groups(), with_body)
        if storage and host == "127.0.0.1" and url.query == "signed=yes":
            return self.answer_storage(storage.group(1), with_body)
        return self.send(404, b"{}", code="EntryNotFound")

    def take_fault(self, name):
        with self.server.hub.lock:
            faults = self.server.hub.faults.get(name)
            return faults.pop(0) if faults else None

    def send(self, status, body, headers=(), code=None, kind="application/json", with_body=True):
        self.send_response(status)
        for key, value in headers:
            self.send_header(key, value)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def send_status(self, fault):
        headers = [("Retry-After", fault.retry_after)] if fault.retry_after is not None else []
        self.send(fault.status, fault.body, headers, fault.code, fault.kind)

    def answer_api(self, repo, revision, with_body):
        hub = self.server.hub
        fault = self.take_fault("api")
        if isinstance(fault, Status):
            return self.send_status(fault)
        if repo not in hub.repos:
            return self.send(hub.missing_status, b"{}", code="RepoNotFound")
        commit = hub.commit(repo)
        if revision not in ("main", "v1", commit):
            return self.send(404, b"{}", code="RevisionNotFound")
        siblings = []
        for name, data in hub.repos[repo].items():
            entry = {"rfilename": name, "size": len(data), "blobId": self.server.hub.hash("sha1", data)}
            if len(data) >= LFS_FROM:
                entry["lfs"] = {"sha256": self.server.hub.hash("sha256", data), "size": len(data), "pointerSize": 130}
            siblings.append(entry)
        if isinstance(fault, Change):
            siblings = fault.change(siblings)
        answer = {"id": repo, "modelId": repo, "sha": commit, "private": False, "gated": False, "siblings": siblings}
        self.send(200, json.dumps(answer).encode(), with_body=with_body)

    def answer_tree(self, repo, with_body):
        """The list that huggingface_hub asks for."""
        entries = []
        for name, data in self.server.hub.repos.get(repo, {}).items():
            entry = {"type": "file", "path": name, "size": len(data), "oid": self.server.hub.hash("sha1", data)}
            if len(data) >= LFS_FROM:
                entry["lfs"] = {"oid": self.server.hub.hash("sha256", data), "size": len(data), "pointerSize": 130}
            entries.append(entry)
        self.send(200, json.dumps(entries).encode(), with_body=with_body)

    def answer_file(self, repo, revision, name, with_body):
        hub = self.server.hub
        data = hub.repos.get(repo, {}).get(name)
        if data is None:
            return self.send(404, b"{}", code="EntryNotFound")
        commit = hub.commit(repo)
        headers = [("X-Repo-Commit", commit)]
        if len(data) < LFS_FROM:
            headers.append(("ETag", '"' + self.server.hub.hash("sha1", data) + '"'))
            return self.send_file(name, data, headers, with_body)
        digest = self.server.hub.hash("sha256", data)
        fault = self.take_fault("redirect")
        if isinstance(fault, Status):
            return self.send_status(fault)
        port = self.server.server_address[1]
        scheme = hub.redirect_scheme or hub.url.split(":")[0]
        where = f"{scheme}://127.0.0.1:{port}/storage/{repo}/{urllib.parse.quote(name)}?signed=yes"
        headers += [("X-Linked-ETag", f'"{digest}"'), ("X-Linked-Size", str(len(data))), ("Location", where),
                    ("ETag", f'"{digest}"')]
        self.send(302, b"", headers)

    def answer_storage(self, path, with_body):
        owner, name, file = path.split("/", 2)
        self.send_file(file, self.server.hub.repos[f"{owner}/{name}"][file], [], with_body)

    def send_file(self, name, data, headers, with_body):
        fault = self.take_fault(name) if with_body else None
        if isinstance(fault, Status):
            return self.send_status(fault)
        if isinstance(fault, Change):
            data = fault.change(data)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, status = 0, 200
        if wanted and not isinstance(fault, NoRange):
            first, status = int(wanted.group(1)), 206
            if first >= len(data):
                return self.send(416, b"", [("Content-Range", f"bytes */{len(data)}")])
            first += 1 if isinstance(fault, WrongRange) and first + 1 < len(data) else 0
        end = int(wanted.group(2)) + 1 if wanted and wanted.group(2) else len(data)
        body = data[first:end]
        self.send_response(status)
        for key, value in headers:
            self.send_header(key, value)
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{len(data)}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.send_body(body, fault)

    def send_body(self, body, fault):
        try:
            if isinstance(fault, Cut):
                self.wfile.write(body[:fault.n])
                self.wfile.flush()
                if fault.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close() if fault.reset else self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            elif isinstance(fault, Drip):
                for at in range(0, len(body), fault.n):
                    self.wfile.write(body[at:at + fault.n])
                    self.wfile.flush()
                    time.sleep(fault.pause)
            else:
                self.wfile.write(body)
        except OSError:
            self.close_connection = True


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # clients that leave are part of the tests


class HubFixture:
    def __init__(self, token=None, certificate=None):
        """certificate: files of a certificate and its key, for HTTPS."""
        self.certificate, self.redirect_scheme = certificate, None
        self.repos, self.faults, self.requests, self.hashes = {}, {}, [], {}
        self.token, self.deny_code, self.missing_status = token, None, 404
        self.lock = threading.Lock()

    def __enter__(self):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.hub = self
        scheme = "http"
        if self.certificate:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{scheme}://localhost:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *ignored):
        self.server.shutdown()
        self.server.server_close()

    def add(self, repo, files):
        self.repos[repo] = dict(files)

    def hash(self, kind, data):
        """The digest of a file's bytes in hexadecimal digits, made once: files may be large."""
        key = (kind, id(data))
        if key not in self.hashes:
            self.hashes[key] = (hashlib.new(kind, data).hexdigest(), data)  # which keeps the id from being used again
        return self.hashes[key][0]

    def commit(self, repo):
        names = "".join(name + self.hash("sha1", data) for name, data in sorted(self.repos[repo].items()))
        return hashlib.sha1(names.encode()).hexdigest()

    def asked(self, piece):
        return [r for r in self.requests if piece in r.path]
