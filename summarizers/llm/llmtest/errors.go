package llmtest

import (
	"encoding/json"
	"net/http"
)

// errorBody returns an error in the provider's format. code is OpenAI's; if it is empty, the status decides.
func errorBody(p Protocol, status int, code, text string) string {
	var body object
	switch p {
	case Messages:
		body = object{"type": "error", "error": object{"type": anthropicType(status), "message": text}, "request_id": "req_0"}
	case Gemini:
		body = object{"error": object{"code": status, "message": text, "status": googleStatus(status)}}
	case Chat, Responses:
		kind, named := openaiType(status)
		if code == "" {
			code = named
		}
		body = object{"error": object{"message": text, "type": kind, "param": nil, "code": code}}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func anthropicType(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "invalid_request_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case 529:
		return "overloaded_error"
	default:
		return "api_error"
	}
}

func googleStatus(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	default:
		return "INTERNAL"
	}
}

func openaiType(status int) (kind, code string) {
	switch status {
	case http.StatusUnauthorized:
		return "invalid_request_error", "invalid_api_key"
	case http.StatusNotFound:
		return "invalid_request_error", "model_not_found"
	case http.StatusTooManyRequests:
		return "requests", "rate_limit_exceeded"
	default:
		if status >= http.StatusInternalServerError {
			return "server_error", "server_error"
		}
		return "invalid_request_error", "invalid_value"
	}
}
