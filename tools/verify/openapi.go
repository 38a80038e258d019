package main

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/compactord/compactord/tools/openapi"
)

const (
	// openAPIFile is the OpenAPI document of the contract, which the daemon serves.
	openAPIFile = "service/httpapi/openapi.json"
	// openAPIFolder has the linter of the document, and its settings.
	openAPIFolder = "tools/openapi"
)

// openAPI makes the document from the contract.
func (v *verifier) openAPI(ctx context.Context) ([]byte, error) {
	compiled, err := v.output(ctx, "", v.tool("buf"), "build", "proto", "--output", "-#format=json")
	if err != nil {
		return nil, err
	}
	contract := &descriptorpb.FileDescriptorSet{}
	// buf adds fields of its own.
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal([]byte(compiled), contract); err != nil {
		return nil, fmt.Errorf("read the compiled contract: %w", err)
	}
	return openapi.Document(contract, "compactord.v1", openapi.About{
		Title: "compactord", Version: "v1", Licence: "Apache-2.0", Reasons: "ErrorReason",
		Description: strings.Join([]string{
			"Keeps the conversations of LLM agents within their context window.",
			"The JSON is that of protobuf: names may be written as here or as in the contract, 64-bit numbers are texts, fields " +
				"without a value may be left out, and a field that is not here is an error in a request.",
		}, "\n\n"),
	})
}

// openAPILinter is installed like the clients.
func openAPILinter() client {
	return client{
		folder: openAPIFolder,
		lock:   "package-lock.json",
		stamp:  "node_modules/.installed-lock.json",
		// The linter has no compiled parts, so one installation serves every version.
		language: (*verifier).anyNode,
		install:  func(v *verifier, ctx context.Context) error { return v.npmInstall(ctx, openAPIFolder) },
	}
}

func (v *verifier) anyNode(ctx context.Context) (found, lack string) {
	if _, lack := v.node(ctx); lack != "" {
		return "", lack
	}
	return "node", ""
}

// lintOpenAPI checks the document with another project's linter. Without Node it is left out and reported.
func (v *verifier) lintOpenAPI(ctx context.Context) error {
	ready, err := v.ready(ctx, openAPILinter(), "the linter of the OpenAPI document")
	if err != nil || !ready {
		return err
	}
	return v.run(ctx, command{
		args: []string{"node", "node_modules/@redocly/cli/bin/cli.js", "lint", "--config", "redocly.yaml", "../../" + openAPIFile},
		// It asks no other machine, neither for its own updates nor to report its use.
		env:    []string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"},
		folder: openAPIFolder,
		hint:   "the contract's comments and rules are in proto, and how the document says them in tools/openapi",
	})
}
