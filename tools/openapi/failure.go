package openapi

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// codes are those of gRPC, as Connect writes them.
var codes = []any{
	"canceled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists", "permission_denied",
	"resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented", "internal", "unavailable", "data_loss",
	"unauthenticated",
}

// addFailures adds the schemas of an error, as Connect has it, with the details that google.rpc defines. An ErrorInfo names one
// of reasons, the enum of the contract, if there is one.
func addFailures(schemas map[string]any, reasons protoreflect.EnumDescriptor) {
	text := func(says string) object { return object{{"type", "string"}, {"description", says}} }
	message := func(says string, properties object) object {
		return object{{"type", "object"}, {"description", says}, {"properties", properties}}
	}
	schemas["Error"] = message("Error is how a call failed.", object{
		{"code", text("The code of gRPC in lower case.").with(member{"enum", codes})},
		{"message", text("What is wrong, for people.")},
		{"details", object{
			{"type", "array"},
			{"items", reference("Error.Detail")},
			{"description", "What is wrong, for programs: of each type at most one. An error of the API has an ErrorInfo; one of the protocol, " +
				"such as JSON that cannot be read, can have none."},
		}},
	}).with(member{"required", []any{"code"}})
	schemas["Error.Line"] = message("The last line of a stream that failed after the first one.", object{
		{"error", reference("Error")},
	}).with(member{"required", []any{"error"}})

	reason := text("What is wrong.")
	if reasons != nil {
		reason = text("The name of an " + nameOf(reasons) + " without its prefix.").with(member{"enum", shortNames(reasons)})
	}
	details := object{
		{"ErrorInfo", message("The reason of the error.", object{
			{"reason", reason},
			{"domain", text("Whose reason it is.")},
			{"metadata", object{
				{"type", "object"}, {"additionalProperties", object{{"type", "string"}}}, {"description", "Facts, by the names that the reason has for them."},
			}},
		}).with(member{"required", []any{"reason"}})},
		{"BadRequest", message("The fields of the request that break their rules.", object{
			{"fieldViolations", object{{"type", "array"}, {"items", object{{"type", "object"}, {"properties", object{
				{"field", text("The field, by its name in the contract.")}, {"description", text("The rule.")},
			}}}}}},
		})},
		{"PreconditionFailure", message("What must change before the call is repeated.", object{
			{"violations", object{{"type", "array"}, {"items", object{{"type", "object"}, {"properties", object{
				{"type", text("The reason.")}, {"subject", text("The id of the session.")}, {"description", text("What is wrong, for people.")},
			}}}}}},
		})},
		{"RetryInfo", message("When the call may be repeated.", object{
			{"retryDelay", object{{"type", "string"}, {"pattern", durationPattern}, {"description", "After how long."}}},
		})},
	}
	types, kinds := make([]any, 0, len(details)), make([]any, 0, len(details))
	for _, detail := range details {
		types = append(types, "google.rpc."+detail.name)
		kinds = append(kinds, object{
			{"properties", object{
				{"type", object{{"const", "google.rpc." + detail.name}}}, {"debug", reference("Error." + detail.name)},
			}},
			{"required", []any{"type"}},
		})
		schemas["Error."+detail.name] = detail.value
	}
	schemas["Error.Detail"] = message("A detail of an error.", object{
		{"type", text("The name of the detail's message.").with(member{"enum", types})},
		{"value", text("The message in protobuf, in base64.")},
		{"debug", object{{"type", "object"}, {"description", "The message as JSON."}}},
	}).with(member{"required", []any{"type", "value"}}, member{"oneOf", kinds})
}

// shortNames are the names of the values of an enum that can be sent, without their common prefix.
func shortNames(e protoreflect.EnumDescriptor) (names []any) {
	prefix, _ := strings.CutSuffix(string(e.Values().ByNumber(0).Name()), "UNSPECIFIED")
	for i := range e.Values().Len() {
		if value := e.Values().Get(i); value.Number() != 0 {
			names = append(names, strings.TrimPrefix(string(value.Name()), prefix))
		}
	}
	return names
}
