package httpapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/compactord/compactord/service/httpapi"
)

const (
	components  = "#/components/schemas/"
	definitions = "#/$defs/"
)

// Conforming is a transport that holds what goes over it in JSON to the OpenAPI document of the server. It takes every
// object to have no more fields than the document says.
type Conforming struct {
	next  http.RoundTripper
	paths map[string]described
	defs  map[string]*jsonschema.Schema

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved
	called   map[string]bool
	problems []string
}

// described is an RPC in the document: the names of its schemas, and whether its answer has a line for each message, and perhaps
// one for an error.
type described struct {
	request, answer, failed string
	lines                   bool
}

// NewConforming reads the document of a server at a URL.
func NewConforming(ctx context.Context, base string, next http.RoundTripper) (*Conforming, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+httpapi.OpenAPIPath, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	c := &Conforming{next: next, paths: map[string]described{}, resolved: map[string]*jsonschema.Resolved{}, called: map[string]bool{}}
	return c, c.read(bytes.ReplaceAll(text, []byte(components), []byte(definitions)))
}

// inContent are the schemas of a body, by content type.
type inContent map[string]struct {
	Schema struct {
		Ref string `json:"$ref"`
		// AnyOf are what a line of a stream can be, the message first.
		AnyOf []struct {
			Ref string `json:"$ref"`
		} `json:"anyOf"`
	} `json:"schema"`
}

func (c *Conforming) read(text []byte) error {
	var document struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct{ Content inContent }            `json:"requestBody"`
				Responses   map[string]struct{ Content inContent } `json:"responses"`
			} `json:"post"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]*jsonschema.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	name := func(in inContent, kind string) string { return strings.TrimPrefix(in[kind].Schema.Ref, definitions) }
	for path, item := range document.Paths {
		answer := item.Post.Responses["200"].Content
		rpc := described{request: name(item.Post.RequestBody.Content, string(JSON)), answer: name(answer, string(JSON))}
		if rpc.answer == "" {
			line := answer["application/x-ndjson"].Schema.AnyOf
			if len(line) != 2 {
				return fmt.Errorf("%s has neither an answer nor lines", path)
			}
			rpc.answer, rpc.failed, rpc.lines = strings.TrimPrefix(line[0].Ref, definitions), strings.TrimPrefix(line[1].Ref, definitions), true
		}
		c.paths[path] = rpc
	}
	c.defs = document.Components.Schemas
	for _, schema := range c.defs {
		if schema.Properties != nil && schema.AdditionalProperties == nil {
			schema.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	return nil
}

// Called returns the paths of the RPCs that have answered a request.
func (c *Conforming) Called() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.called
}

// Problems returns what does not conform.
func (c *Conforming) Problems() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.problems)
}

// RoundTrip makes a request. Its answer is judged once it has been read.
func (c *Conforming) RoundTrip(request *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(request.Body)
	if err = errors.Join(err, request.Body.Close()); err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	request.Body = io.NopCloser(bytes.NewReader(sent))
	response, err := c.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = &judged{ReadCloser: response.Body, judge: func(answer []byte) {
		c.judge(request.URL.Path, response.StatusCode, sent, answer)
	}}
	return response, nil
}

// judged collects a body while it is read.
type judged struct {
	io.ReadCloser
	got   bytes.Buffer
	once  sync.Once
	judge func([]byte)
}

// Read is part of io.Reader.
func (j *judged) Read(into []byte) (int, error) {
	n, err := j.ReadCloser.Read(into)
	j.got.Write(into[:n])
	return n, err
}

// Close is part of io.Closer.
func (j *judged) Close() error {
	j.once.Do(func() { j.judge(j.got.Bytes()) })
	return j.ReadCloser.Close()
}

// judge checks an answer and, where the call did not fail, its request.
func (c *Conforming) judge(path string, status int, sent, answer []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rpc, known := c.paths[path]
	switch {
	case !known:
		c.problems = append(c.problems, "the document has no "+path)
	case status != http.StatusOK:
		c.check(path, "Error", answer)
	default:
		c.called[path] = true
		c.check(path, rpc.request, sent)
		if !rpc.lines {
			c.check(path, rpc.answer, answer)
			return
		}
		// A line that was cut off when the client went is none.
		for _, line := range bytes.Split(answer, []byte("\n")) {
			switch {
			case len(line) == 0 || !json.Valid(line):
			case bytes.HasPrefix(line, []byte(`{"error":`)):
				c.check(path, rpc.failed, line)
			default:
				c.check(path, rpc.answer, line)
			}
		}
	}
}

// check holds a text to a schema.
func (c *Conforming) check(path, name string, text []byte) {
	schema, err := c.schema(name)
	var value any
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		c.problems = append(c.problems, fmt.Sprintf("%s: %s: %v: %.300s", path, name, err, text))
	}
}

func (c *Conforming) schema(name string) (*jsonschema.Resolved, error) {
	if known := c.resolved[name]; known != nil {
		return known, nil
	}
	if c.defs[name] == nil {
		return nil, fmt.Errorf("the document has no schema %q", name)
	}
	resolved, err := (&jsonschema.Schema{Ref: definitions + name, Defs: c.defs}).CloneSchemas().Resolve(nil)
	c.resolved[name] = resolved
	return resolved, err
}
