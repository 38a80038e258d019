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

// step is a generated log after a step.
type step struct {
	g     *sessiontest.Generator
	model *sessiontest.Model
	state *session.State
	// before is the length of the log before the step.
	before int
}

// newest is the last message or record of the step.
func (s step) newest() sessiontest.Item { return s.g.W.Log.Items[s.g.W.Log.Newest()] }

// everyStep are the checks after every step of any log.
var everyStep = []func(t *rapid.T, s step){
	requireModelsView, requireModelsHead, requireModelsCutPlaces, requireModelsChangedFrom, requireModelsContextTokens,
	requireModelsTriggers, requireMetricsComputedAnew, requireCoverage, requirePairing, requireOrder, requireLoopsWhole,
	requireViewOfRevert,
}

func TestEveryStep(t *testing.T) {
	counts := make(sessiontest.Counts)
	// A class that is rare by chance occurs in another round; one that no round makes is missing.
	for range 5 {
		rapid.Check(t, func(t *rapid.T) { everyStepOf(t, counts) })
		if t.Failed() || testing.Short() || counts.Rare(minCounts) == "" {
			break
		}
	}
	t.Log("\n" + counts.String())
	if !testing.Short() {
		require.Empty(t, counts.Rare(minCounts))
	}
}

func everyStepOf(t *rapid.T, counts sessiontest.Counts) {
	g := sessiontest.NewGeneratorBy(t, estimator(t), counts)
	for range sessiontest.Steps(t, 60) {
		before := len(g.W.Log.Items)
		g.Step(t)
		if len(g.W.Log.Items) == before {
			continue
		}
		s := step{g: g, model: g.Model(), state: g.W.State(), before: before}
		for _, check := range everyStep {
			check(t, s)
		}
	}
}

// estimator is mostly CHARS4, which is the fastest.
func estimator(t *rapid.T) compactordv1.Estimator {
	return rapid.SampledFrom([]compactordv1.Estimator{
		compactordv1.Estimator_ESTIMATOR_CHARS4, compactordv1.Estimator_ESTIMATOR_CHARS4,
		compactordv1.Estimator_ESTIMATOR_O200K_BASE, compactordv1.Estimator_ESTIMATOR_CALIBRATED,
	}).Draw(t, "estimator")
}

// story prints a log, one line for each message or record.
func story(log *sessiontest.Log) string {
	var b strings.Builder
	for sequence, item := range log.Items {
		fmt.Fprintf(&b, "%d: ", sequence)
		if item.Message != nil {
			fmt.Fprintf(&b, "made from %v, edited %v: %v\n", item.MadeFrom, item.Arrival, item.Message)
		} else {
			fmt.Fprintln(&b, item.Record)
		}
	}
	return b.String()
}

// sameView compares two views message by message and byte for byte.
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

// lines prints a message, one line for each field, so that a difference is easy to see.
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
	{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_ADAPTIVE},
}
