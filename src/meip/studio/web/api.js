// Asking the server: JSON both ways. What it refuses is an ApiError with its one line.

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** api("/api/drafts", {method: "POST", body: {...}}) */
export async function api(path, { method = "GET", body, signal } = {}) {
  const writes = method !== "GET";
  let answer;
  try {
    answer = await fetch(path, {
      method, signal, credentials: "same-origin", redirect: "error",
      headers: writes ? { "Content-Type": "application/json" } : {},
      body: writes ? JSON.stringify(body ?? {}) : undefined,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The studio does not answer. Is it still running?", 0);
  }
  const text = await answer.text();
  let data = null;
  try { data = text ? JSON.parse(text) : null; } catch { data = null; }
  if (!answer.ok) throw new ApiError(data?.error ?? `The studio answered ${answer.status}.`, answer.status);
  return data;
}
