// Package planted generates long conversations of agents in which the important facts are known: constraints, requests,
// decisions, paths, error codes and to-dos are planted among large tool outputs and small talk. The same seed gives the
// same conversation.
//
// It is independent of how a summarizer finds the facts. It uses many phrasings of people and agents for each kind.
package planted

import (
	"math/rand/v2"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Kind is the kind of a planted fact.
type Kind string

// The kinds. Tests call all but LastRequest and Constraint "the rest".
const (
	Constraint  Kind = "constraint"
	LastRequest Kind = "last request"
	Decision    Kind = "decision"
	Path        Kind = "path"
	Code        Kind = "error code"
	Todo        Kind = "to-do"
)

// Fact is a planted fact.
type Fact struct {
	Kind Kind
	// Text must be found word for word.
	Text string
	// Index is the index of its message.
	Index uint32
	// By is the role of the message's author.
	By compactordv1.Role
}

// Language is the language of people and agent. Code and paths are the same in all languages.
type Language int

// The languages.
const (
	English Language = iota
	Chinese
)

// Amounts says how much is planted in each round.
type Amounts struct {
	// User, Developer and System are the numbers of their constraints.
	User, Developer, System int
	Decisions               int
	Paths                   int
	Codes                   int
	Todos                   int
	// Turns is the number of turns in a round, and Steps the most tool calls in a turn.
	Turns, Steps int
	// OutputBytes is about the largest size of a tool output.
	OutputBytes int
}

// Round is the part of a conversation that one compaction summarizes.
type Round struct {
	Messages []*compactordv1.LoggedMessage
	// Facts are the facts that hold after the round, those of earlier rounds included, but not those that were done or
	// replaced.
	Facts []Fact
}

// Rounds generates a conversation with this number of rounds.
func Rounds(seed uint64, lang Language, rounds int, a Amounts) []Round {
	g := &generator{
		rng:  rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)),
		lang: lang,
		a:    a,
	}
	g.words = wordings[lang]
	g.tools = toolsets[g.rng.IntN(len(toolsets))]
	g.todoStyle = g.rng.IntN(3)
	list := make([]Round, 0, rounds)
	for range rounds {
		list = append(list, g.round())
	}
	return list
}

// generator generates one conversation.
type generator struct {
	rng       *rand.Rand
	lang      Language
	a         Amounts
	words     *wording
	tools     toolset
	todoStyle int

	log   []*compactordv1.LoggedMessage
	facts []Fact
	todos []string
	calls int
	// used are the fillers and phrasings that were used.
	used map[string]bool
	// unique is a counter for names that must differ.
	unique int
}

// round generates the next round.
func (g *generator) round() Round {
	start := len(g.log)
	type plant func()
	perTurn := make([][]plant, g.a.Turns)
	spread := func(n int, p plant) {
		for range n {
			t := g.rng.IntN(g.a.Turns)
			perTurn[t] = append(perTurn[t], p)
		}
	}
	spread(g.a.Developer, func() { g.instruct(compactordv1.Role_ROLE_DEVELOPER) })
	spread(g.a.System, func() { g.instruct(compactordv1.Role_ROLE_SYSTEM) })
	spread(g.a.Decisions, g.decide)
	spread(g.a.Paths, g.path)
	spread(g.a.Codes, g.code)
	userRules := make([]int, g.a.Turns)
	for range g.a.User {
		userRules[g.rng.IntN(g.a.Turns)]++
	}
	todoTurn := g.rng.IntN(g.a.Turns)
	for t := range g.a.Turns {
		g.request(userRules[t])
		plants := perTurn[t]
		if t == todoTurn && g.a.Todos > 0 {
			plants = append(plants, g.plan)
		}
		g.rng.Shuffle(len(plants), func(i, j int) { plants[i], plants[j] = plants[j], plants[i] })
		for _, p := range plants {
			g.noise(g.rng.IntN(g.a.Steps + 1))
			p()
		}
		g.noise(1 + g.rng.IntN(g.a.Steps+1))
		g.say(g.pick(g.words.closings))
	}
	facts := make([]Fact, len(g.facts))
	copy(facts, g.facts)
	return Round{Messages: g.log[start:], Facts: facts}
}

// add appends a message and returns its index.
func (g *generator) add(role compactordv1.Role, parts ...*compactordv1.Part) uint32 {
	index := uint32(len(g.log))
	m := &compactordv1.Message{Role: role, Parts: parts}
	if role == compactordv1.Role_ROLE_USER {
		m.Origin = compactordv1.Origin_ORIGIN_CLIENT
	}
	g.log = append(g.log, &compactordv1.LoggedMessage{Index: index, Sequence: index + 1, Message: m, Tokens: uint32(sizeOf(parts)/4 + 1)})
	return index
}

func sizeOf(parts []*compactordv1.Part) int {
	n := 0
	for _, p := range parts {
		n += len(p.GetText().GetText()) + len(p.GetToolCall().GetArguments())
		for _, rp := range p.GetToolResult().GetParts() {
			n += len(rp.GetText().GetText())
		}
	}
	return n
}

// plant records a fact.
func (g *generator) plant(k Kind, text string, index uint32, by compactordv1.Role) {
	g.facts = append(g.facts, Fact{Kind: k, Text: text, Index: index, By: by})
}

// drop removes the facts of a kind for which gone returns true.
func (g *generator) drop(k Kind, gone func(Fact) bool) {
	kept := g.facts[:0:0]
	for _, f := range g.facts {
		if f.Kind != k || !gone(f) {
			kept = append(kept, f)
		}
	}
	g.facts = kept
}
