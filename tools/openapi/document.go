// Package openapi makes an OpenAPI document from the contract: what a client of the HTTP listener sends and receives as JSON.
//
// It knows only what the contract has: unary RPCs and streams of answers, and the messages of one package, whose names
// without the package are those of the schemas. Comments become descriptions. Of the rules of protovalidate it takes those
// that JSON Schema can say.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

const (
	asJSON  = "application/json"
	asLines = "application/x-ndjson"
)

// About is what a document says of itself.
type About struct {
	Title, Version, Description, Licence string
	// Reasons is the name of the enum with the reasons of errors; empty where the contract has none.
	Reasons string
}

// Document returns the document of a package, of a compiled contract with its comments.
func Document(contract *descriptorpb.FileDescriptorSet, pkg string, about About) ([]byte, error) {
	files, err := protodesc.NewFiles(contract)
	if err != nil {
		return nil, fmt.Errorf("read the compiled contract: %w", err)
	}
	var tags []any
	paths, schemas := map[string]any{}, map[string]any{}
	var reasons protoreflect.EnumDescriptor
	for _, compiled := range contract.GetFile() {
		if compiled.GetPackage() != pkg {
			continue
		}
		file, err := files.FindFileByPath(compiled.GetName())
		if err != nil {
			return nil, fmt.Errorf("read the compiled contract: %w", err)
		}
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			tags = append(tags, object{{"name", string(service.Name())}, {"description", commentOf(service)}})
			for n := range service.Methods().Len() {
				method := service.Methods().Get(n)
				paths["/"+string(service.FullName())+"/"+string(method.Name())] = object{{"post", operation(method)}}
			}
		}
		addMessages(schemas, file.Messages())
		addEnums(schemas, file.Enums())
		if found := file.Enums().ByName(protoreflect.Name(about.Reasons)); found != nil {
			reasons = found
		}
	}
	addFailures(schemas, reasons)
	document := object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", about.Title},
			{"version", about.Version},
			{"description", about.Description},
			{"license", object{{"name", about.Licence}, {"identifier", about.Licence}}},
		}},
		{"servers", []any{object{{"url", "/"}}}},
		{"security", []any{object{{"token", []any{}}}}},
		{"tags", tags},
		{"paths", paths},
		{"components", object{
			{"securitySchemes", object{{"token", object{{"type", "http"}, {"scheme", "bearer"}}}}},
			{"responses", object{{"Error", object{
				{"description", "The call failed."},
				{"headers", object{{"Retry-After", object{
					{"description", "After how many seconds the call may be repeated, where it may."}, {"schema", object{{"type", "integer"}, {"minimum", 1}}},
				}}}},
				{"content", content(asJSON, reference("Error"))},
			}}}},
			{"schemas", schemas},
		}},
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("write the document: %w", err)
	}
	return text.Bytes(), nil
}

// operation is an RPC.
func operation(m protoreflect.MethodDescriptor) object {
	described := commentOf(m)
	summary, _, _ := strings.Cut(described, ". ")
	kind, answer, schema := asJSON, "The answer.", reference(nameOf(m.Output()))
	if m.IsStreamingServer() {
		kind, answer = asLines, "A line for each message. Where the call fails after the first one, the last line is an object "+
			"whose field `error` is an Error."
		schema = object{{"anyOf", []any{schema, reference("Error.Line")}}}
	}
	return object{
		{"operationId", string(m.Parent().Name()) + "_" + string(m.Name())},
		{"tags", []any{string(m.Parent().Name())}},
		{"summary", strings.TrimSuffix(summary, ".")},
		{"description", described},
		{"requestBody", object{{"required", true}, {"content", content(asJSON, reference(nameOf(m.Input())))}}},
		{"responses", object{
			{"200", object{{"description", answer}, {"content", content(kind, schema)}}},
			{"4XX", object{{"$ref", "#/components/responses/Error"}}},
			{"5XX", object{{"$ref", "#/components/responses/Error"}}},
		}},
	}
}

func content(kind string, schema object) object { return object{{kind, object{{"schema", schema}}}} }
