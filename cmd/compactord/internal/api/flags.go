package api

import (
	"errors"
	"strings"
)

// flagOf names the flag whose value goes into a field of a request as it was given.
var flagOf = map[string]string{
	"session_id": "session", "new_session_id": "as", "parent_session_id": "parent", "forked_from_session_id": "forked-from",
	"as_of": "as-of", "point": "to-point", "checkpoint_id": "to-checkpoint", "turns": "turns",
	"title": "title", "focus": "focus", "call_id": "call-id", "http_status": "status", "message_from_future": "message",
	"set[0].priority": "priority", "set[0].turns": "turns",
	"context_window": "context-window", "max_output_tokens": "max-output-tokens", "max_input_tokens": "max-input-tokens",
	"policy.context_window": "context-window", "policy.max_output_tokens": "max-output-tokens", "policy.max_input_tokens": "max-input-tokens",
	"policy.strategy.summarize.recent_tokens": "keep-recent-tokens", "policy.summary.summarizer": "summarizer",
}

// NamingFlags has an error of the API name the flags that were given, in place of the fields that their values went into.
func NamingFlags(err error, given map[string]bool) error {
	var call *CallError
	if errors.As(err, &call) {
		call.given = given
	}
	return err
}

// message returns what the service says of the error. It begins with the field that is wrong, and where there are several,
// each stands after a semicolon.
func (e *CallError) message() string {
	parts := strings.Split(e.status.Message(), "; ")
	for i, part := range parts {
		field, problem, found := strings.Cut(part, ": ")
		if flag := flagOf[field]; found && e.given[flag] {
			parts[i] = "--" + flag + ": " + problem
		}
	}
	return strings.Join(parts, "; ")
}
