// Calls of the daemon that serves this page. Nothing else of the page asks it for anything: an exported page has another
// such module, with the same names.

const place = "compactord.token";

// Refused says that the daemon does not take the token.
export class Refused extends Error {}

// canFollow says whether sessions change while they are shown, and can be asked what a call would do.
export const canFollow = true;

// canWrite says whether the daemon takes changes from this page. It refuses them otherwise, whatever the page shows.
export const canWrite = document.documentElement.hasAttribute("data-write");

export function setToken(token) {
  sessionStorage.setItem(place, token.trim());
}

// takeToken takes the token that the address of the page may have at its end, and removes it there.
export function takeToken() {
  const found = /^(.*)\?token=(\w+)$/s.exec(location.hash);
  if (found) {
    setToken(found[2]);
    history.replaceState(null, "", found[1]);
  }
}

// file is what an exported page says of itself; nothing in the page of a daemon.
export const file = undefined;

async function post(rpc, request, signal) {
  const headers = { "Content-Type": "application/json" };
  const token = sessionStorage.getItem(place);
  if (token) {
    headers.Authorization = `Bearer ${token}`;
  }
  const response = await fetch(`/compactord.v1.${rpc}`, {
    method: "POST", headers, body: JSON.stringify(request), credentials: "omit", signal,
  });
  if (response.ok) {
    return response;
  }
  throw failureOf(await response.json().catch(() => ({})), response.status);
}

function failureOf(failure, status) {
  const message = failure.message ?? `the daemon answered with status ${status}`;
  return status === 401 || failure.code === "unauthenticated" ? new Refused(message) : new Error(message);
}

// call calls an RPC that answers once, such as SessionService/ListSessions.
export async function call(rpc, request, signal) {
  return (await post(rpc, request, signal)).json();
}

// stream calls an RPC that answers many times, and yields its answers as they come.
export async function* stream(rpc, request, signal) {
  const reader = (await post(rpc, request, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let pieces = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      const lines = value.split("\n");
      pieces.push(lines[0]);
      if (lines.length === 1) {
        continue;
      }
      const whole = [pieces.join(""), ...lines.slice(1, -1)];
      pieces = [lines.at(-1)];
      for (const line of whole) {
        yield answerOf(line);
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function answerOf(line) {
  const answer = JSON.parse(line);
  if (answer.error) {
    throw failureOf(answer.error, 0);
  }
  return answer;
}
