/** What an exception of a provider's SDK tells of the request that failed. */
export interface ProviderError {
  /** The HTTP status; 0 where it does not say. */
  readonly httpStatus: number;
  /** Its text, and the body that the provider answered where it has that. */
  readonly errorText: string;
}

/** How much of a text is given on: more than the daemon searches, and less than it takes. */
const maxChars = 256 * 1024;

/**
 * Reads what SDKs put into the errors that they throw: `status`, `statusCode`, `code` or `response.status`, the `message`,
 * and the body in `error`, `body`, `responseBody` or `response.text`.
 */
export function providerError(thrown: unknown): ProviderError {
  const error = fieldsOf(thrown);
  const response = fieldsOf(error["response"]);
  const httpStatus = [error["status"], error["statusCode"], error["code"], response["status"]].find(isHttpStatus) ?? 0;
  const texts = [
    thrown instanceof Error ? thrown.message : (error["message"] ?? thrown),
    error["error"],
    error["body"],
    error["responseBody"],
    response["text"],
    response["data"],
  ].map(textOf);
  const told = texts.filter((text, at) => text !== "" && texts.indexOf(text) === at);
  return { httpStatus, errorText: told.join("\n").slice(0, maxChars) };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isHttpStatus(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 100 && value <= 599;
}

function textOf(value: unknown): string {
  if (typeof value === "string") {
    return value;
  }
  if (typeof value !== "object" || value === null) {
    return typeof value === "number" ? String(value) : "";
  }
  try {
    return JSON.stringify(value);
  } catch {
    // It holds itself, or something that JSON has no word for.
    return "";
  }
}
