package openapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/compactord/compactord/tools/openapi"
)

// contract is a compiled contract: a service with a stream, a message of each kind of field, and rules.
const contract = `{"file": [{"name": "a.proto", "package": "a.v1", "syntax": "proto3",
  "service": [{"name": "S", "method": [{"name": "Do", "inputType": ".a.v1.In", "outputType": ".a.v1.In", "serverStreaming": true}]}],
  "enumType": [{"name": "E", "value": [{"name": "E_NONE", "number": 0}, {"name": "E_ONE", "number": 1}]}],
  "messageType": [{"name": "In",
    "nestedType": [{"name": "Deep"}, {"name": "OfEntry", "options": {"mapEntry": true}, "field": [
      {"name": "key", "number": 1, "label": "LABEL_OPTIONAL", "type": "TYPE_STRING", "jsonName": "key"},
      {"name": "value", "number": 2, "label": "LABEL_OPTIONAL", "type": "TYPE_INT64", "jsonName": "value"}]}],
    "oneofDecl": [{"name": "target", "options": {"[buf.validate.oneof]": {"required": true}}}, {"name": "other"}],
    "field": [
      {"name": "the_id", "number": 1, "label": "LABEL_OPTIONAL", "type": "TYPE_STRING", "jsonName": "theId", "oneofIndex": 0,
       "options": {"[buf.validate.field]": {"string": {"minBytes": 2, "maxBytes": 9, "pattern": "^x"}}}},
      {"name": "deep", "number": 2, "label": "LABEL_OPTIONAL", "type": "TYPE_MESSAGE", "typeName": ".a.v1.In.Deep", "jsonName": "deep", "oneofIndex": 0},
      {"name": "most", "number": 3, "label": "LABEL_OPTIONAL", "type": "TYPE_UINT32", "jsonName": "most", "oneofIndex": 1,
       "options": {"[buf.validate.field]": {"uint32": {"gte": 1, "lte": 5}}}},
      {"name": "or_empty", "number": 4, "label": "LABEL_OPTIONAL", "type": "TYPE_STRING", "jsonName": "orEmpty", "oneofIndex": 1,
       "options": {"[buf.validate.field]": {"ignore": "IGNORE_IF_ZERO_VALUE", "string": {"minBytes": 2}}}},
      {"name": "of", "number": 5, "label": "LABEL_REPEATED", "type": "TYPE_MESSAGE", "typeName": ".a.v1.In.OfEntry", "jsonName": "of",
       "options": {"[buf.validate.field]": {"map": {"maxPairs": "3"}}}},
      {"name": "all", "number": 6, "label": "LABEL_REPEATED", "type": "TYPE_ENUM", "typeName": ".a.v1.E", "jsonName": "all",
       "options": {"[buf.validate.field]": {"required": true, "repeated": {"minItems": "1", "maxItems": "7"}}}},
      {"name": "ratio", "number": 7, "label": "LABEL_OPTIONAL", "type": "TYPE_DOUBLE", "jsonName": "ratio",
       "options": {"[buf.validate.field]": {"double": {"gt": 0, "lte": 0.5}}}},
      {"name": "raw", "number": 8, "label": "LABEL_OPTIONAL", "type": "TYPE_BYTES", "jsonName": "raw"}]}],
  "sourceCodeInfo": {"location": [
    {"path": [6, 0, 2, 0], "span": [1, 1, 1], "leadingComments": " Do does it. It\n streams.\n\n Twice.\n"},
    {"path": [5, 0, 2, 1], "span": [2, 1, 1], "leadingComments": " One.\n"},
    {"path": [4, 0, 2, 0], "span": [3, 1, 1], "leadingComments": " The id <b>.\n"}]}}]}`

func TestDocument(t *testing.T) {
	set := &descriptorpb.FileDescriptorSet{}
	require.NoError(t, protojson.Unmarshal([]byte(contract), set))
	text, err := openapi.Document(set, "a.v1", openapi.About{Title: "A", Version: "v1", Licence: "MIT", Reasons: "E"})
	require.NoError(t, err)
	again, err := openapi.Document(set, "a.v1", openapi.About{Title: "A", Version: "v1", Licence: "MIT", Reasons: "E"})
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
	require.Contains(t, string(text), "The id <b>.")

	var document struct {
		Paths map[string]struct {
			Post struct {
				Summary, Description string
				Responses            map[string]struct{ Content map[string]any }
			}
		}
		Components struct{ Schemas map[string]json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(text, &document))
	rpc := document.Paths["/a.v1.S/Do"].Post
	require.Equal(t, "Do does it", rpc.Summary)
	require.Equal(t, "Do does it. It streams.\n\nTwice.", rpc.Description)
	require.Contains(t, rpc.Responses["200"].Content, "application/x-ndjson")
	line, err := json.Marshal(rpc.Responses["200"].Content["application/x-ndjson"])
	require.NoError(t, err)
	require.JSONEq(t, `{"schema": {"anyOf": [{"$ref": "#/components/schemas/In"}, {"$ref": "#/components/schemas/Error.Line"}]}}`, string(line))

	require.Len(t, document.Components.Schemas, 10)
	require.Contains(t, string(document.Components.Schemas["Error"]), "#/components/schemas/Error.Detail")
	for _, detail := range []string{"ErrorInfo", "BadRequest", "PreconditionFailure", "RetryInfo"} {
		require.Contains(t, string(document.Components.Schemas["Error.Detail"]), "#/components/schemas/Error."+detail)
		require.Contains(t, document.Components.Schemas, "Error."+detail)
	}
	var info struct {
		Properties struct{ Reason struct{ Enum []string } }
	}
	require.NoError(t, json.Unmarshal(document.Components.Schemas["Error.ErrorInfo"], &info))
	require.Equal(t, []string{"E_ONE"}, info.Properties.Reason.Enum, "the value 0 is never sent")
	require.JSONEq(t, `{"type": "string", "enum": ["E_NONE", "E_ONE"], "description": "\n\n- `+"`E_NONE`: \\n- `E_ONE`: One."+`"}`,
		string(document.Components.Schemas["E"]))
	require.JSONEq(t, `{"type": "object", "description": "", "properties": {}}`, string(document.Components.Schemas["In.Deep"]))
	require.JSONEq(t, `{"type": "object",
	  "description": "\n\nOne of `+"`theId`, `deep` is set.\\n\\nAt most one of `most`, `orEmpty`"+` is set.",
	  "properties": {
	    "theId": {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^x", "description": "The id <b>."},
	    "deep": {"$ref": "#/components/schemas/In.Deep", "description": ""},
	    "most": {"type": "integer", "minimum": 1, "maximum": 5, "description": ""},
	    "orEmpty": {"type": "string", "description": ""},
	    "of": {"type": "object", "additionalProperties": {"type": "string", "pattern": "^-?[0-9]+$", "format": "int64"}, "maxProperties": 3, "description": ""},
	    "all": {"type": "array", "items": {"$ref": "#/components/schemas/E"}, "minItems": 1, "maxItems": 7, "description": ""},
	    "ratio": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5, "description": ""},
	    "raw": {"type": "string", "contentEncoding": "base64", "description": ""}},
	  "required": ["all"],
	  "allOf": [{"oneOf": [{"required": ["theId"]}, {"required": ["deep"]}]}]}`, string(document.Components.Schemas["In"]))

	_, err = openapi.Document(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{}, {}}}, "a.v1", openapi.About{})
	require.Error(t, err)
}
