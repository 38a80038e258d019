/** Status and text of an error of a provider's SDK. */
export interface ProviderError {
  /** The HTTP status; 0 where the error has none. */
  readonly httpStatus: number;
  /** Its text, and the body of the response where the error has it. */
  readonly errorText: string;
}

/** The most characters of the text to send: more than the daemon searches, and less than it accepts. */
const maxChars = 256 * 1024;

/**
 * Reads the fields of errors of providers' SDKs: the status in `status`, `statusCode`, `code` or `response.status`, the
 * `message`, and the body in `error`, `body`, `responseBody` or `response.text`.
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
  const parts = texts.filter((text, at) => text !== "" && texts.indexOf(text) === at);
  return { httpStatus, errorText: parts.join("\n").slice(0, maxChars) };
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
    // It contains itself, or a value that cannot be written as JSON.
    return "";
  }
}
