package redactiontest

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
)

// Planted returns secrets as people and tools write them: in commands, in files of settings, in what programs print
// and in sentences of many languages. Each template is used with as many secrets as rounds says. No text here holds a
// secret of its own: they are drawn from the seed.
func Planted(seed uint64, rounds int) []Credential {
	g := &generator{rand.New(rand.NewPCG(seed, 11))}
	var made []Credential
	for range rounds {
		for _, group := range plantedGroups() {
			for _, template := range group.templates {
				secret := group.secret(g)
				made = append(made, Credential{
					Kind: group.name, Secret: secret, Text: strings.ReplaceAll(template, "@@", secret),
				})
			}
		}
	}
	return made
}

// planted is a kind of secret with the texts that hold it, where @@ stands for it.
type planted struct {
	name      string
	secret    func(g *generator) string
	templates []string
}

func plantedGroups() []planted {
	var all []planted
	for _, groups := range [][]planted{plantedCommands, plantedSettings, plantedSentences, plantedTokens} {
		all = append(all, groups...)
	}
	return all
}

var seasons = []string{"Falcon", "Winter", "Mango", "Orion", "Jupiter", "Copper", "Harbor", "Velvet", "Pepper", "Comet", "Tundra", "Saffron"}

// strong is a password of a generator.
func (g *generator) strong() string { return g.mixed(alnum, 16) }

// human is a password as a person invents it.
func (g *generator) human() string {
	return seasons[g.IntN(len(seasons))] + g.of(digits, 4) + []string{"!", "#", "", "x", "!!"}[g.IntN(5)]
}

var phraseWords = []string{
	"copper", "lantern", "orbit", "velvet", "harvest", "tundra", "pickle", "anchor", "saffron", "walnut", "glacier", "pepper",
	"bramble", "cobalt", "drizzle", "ember", "fjord", "gravel", "hazel", "indigo", "juniper", "kettle", "lichen", "meadow",
}

// phrase is a passphrase of words drawn at random.
func (g *generator) phrase() string {
	words := make([]string, 5)
	for i := range words {
		words[i] = phraseWords[g.IntN(len(phraseWords))]
	}
	return strings.Join(words, " ")
}

func hexes(n int) func(*generator) string {
	return func(g *generator) string { return g.of(hex, n) }
}

func numbers(n int) func(*generator) string {
	return func(g *generator) string { return g.of(digits, n) }
}

// encoded is a password in base64.
func (g *generator) encoded() string { return base64.StdEncoding.EncodeToString([]byte(g.strong())) }

// login is a name and a password in base64.
func (g *generator) login() string {
	return base64.StdEncoding.EncodeToString([]byte("ci-robot:" + g.strong()))
}
