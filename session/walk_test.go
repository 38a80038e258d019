package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// walk runs a check after every step of generated logs, and returns what the logs held.
func walk(t *testing.T, steps int, check func(t *rapid.T, g *sessiontest.Generator)) sessiontest.Counts {
	t.Helper()
	counts := make(sessiontest.Counts)
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, counts)
		check(t, g)
		for range sessiontest.Steps(t, steps) {
			g.Step(t)
			check(t, g)
		}
	})
	return counts
}

// story tells a log in a line an item.
func story(log *sessiontest.Log) string {
	var b strings.Builder
	for sequence, item := range log.Items {
		fmt.Fprintf(&b, "%d: ", sequence)
		if item.Message != nil {
			fmt.Fprintf(&b, "made from %v: %v\n", item.MadeFrom, item.Message)
		} else {
			fmt.Fprintln(&b, item.Record)
		}
	}
	return b.String()
}

// sameView compares two views message by message, byte for byte.
func sameView(t require.TestingT, want, got []*compactordv1.ViewMessage) {
	for i := range min(len(want), len(got)) {
		if string(sessiontest.Bytes(want[i])) != string(sessiontest.Bytes(got[i])) {
			require.Equal(t, want[i].String(), got[i].String(), "message %d of the view", i)
			require.Fail(t, "same text, other bytes", "message %d of the view: %v", i, want[i])
		}
	}
	require.Len(t, got, len(want), "messages of the view")
}

func sameMessage(t require.TestingT, want, got proto.Message, what string) {
	if !proto.Equal(want, got) {
		wanted, gotten := lines(want), lines(got)
		same := func(other []string) func(string) bool {
			return func(line string) bool { return slices.Contains(other, line) }
		}
		require.Equal(t, slices.DeleteFunc(slices.Clone(wanted), same(gotten)),
			slices.DeleteFunc(slices.Clone(gotten), same(wanted)), what)
		require.Fail(t, "not the same", what)
	}
}

// lines prints a message a field a line, so that a difference is easy to see.
func lines(m proto.Message) []string {
	var found []string
	m.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		single := m.ProtoReflect().New()
		single.Set(f, v)
		found = append(found, fmt.Sprint(single.Interface()))
		return true
	})
	slices.Sort(found)
	return found
}

var everyOption = []session.ViewOptions{
	{},
	{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_VALID},
	{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_ALL},
	{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP},
}
