// Calls of the daemon that serves this page.

const place = "compactord.token";

// Refused says that the daemon does not take the token.
export class Refused extends Error {}

export function setToken(token) {
  sessionStorage.setItem(place, token.trim());
}

// call calls an RPC that answers once, such as SessionService/ListSessions.
export async function call(rpc, request, signal) {
  const headers = { "Content-Type": "application/json" };
  const token = sessionStorage.getItem(place);
  if (token) {
    headers.Authorization = `Bearer ${token}`;
  }
  const response = await fetch(`/compactord.v1.${rpc}`, {
    method: "POST", headers, body: JSON.stringify(request), credentials: "omit", signal,
  });
  if (response.ok) {
    return response.json();
  }
  const failure = await response.json().catch(() => ({}));
  const message = failure.message ?? `the daemon answered with status ${response.status}`;
  throw response.status === 401 ? new Refused(message) : new Error(message);
}
