/** How much of a text is given on: more than the daemon searches, and less than it takes. */
const maxChars = 256 * 1024;
/**
 * Reads what SDKs put into the errors that they throw: `status`, `statusCode`, `code` or `response.status`, the `message`,
 * and the body in `error`, `body`, `responseBody` or `response.text`.
 */
export function providerError(thrown) {
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
function fieldsOf(value) {
    return typeof value === "object" && value !== null ? value : {};
}
function isHttpStatus(value) {
    return typeof value === "number" && Number.isInteger(value) && value >= 100 && value <= 599;
}
function textOf(value) {
    if (typeof value === "string") {
        return value;
    }
    if (typeof value !== "object" || value === null) {
        return typeof value === "number" ? String(value) : "";
    }
    try {
        return JSON.stringify(value);
    }
    catch {
        // It holds itself, or something that JSON has no word for.
        return "";
    }
}
