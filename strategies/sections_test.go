package strategies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
)

func withSections(list ...*compactordv1.Section) *compactordv1.Policy {
	return &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Sections: &compactordv1.SectionList{Sections: list}}}
}

func about(title string) *compactordv1.Section {
	return &compactordv1.Section{Title: title, Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT}
}

// Sections with which a summary could not be written or read are refused, with the field that is wrong.
func TestSectionsAreRefused(t *testing.T) {
	t.Parallel()
	group := func(title string, below ...*compactordv1.Section) *compactordv1.Section {
		return &compactordv1.Section{Title: title, Subsections: below}
	}
	for name, c := range map[string]struct {
		list        []*compactordv1.Section
		field, says string
	}{
		"a line break":         {[]*compactordv1.Section{about("Ziel\nStand")}, "[0].title", "one line"},
		"a line separator":     {[]*compactordv1.Section{about("Ziel\u2028Stand")}, "[0].title", "one line"},
		"a control character":  {[]*compactordv1.Section{about("Ziel\x1b")}, "[0].title", "one line"},
		"space before":         {[]*compactordv1.Section{about(" Ziel")}, "[0].title", "white space"},
		"space behind":         {[]*compactordv1.Section{about("Ziel\u3000")}, "[0].title", "white space"},
		"a heading":            {[]*compactordv1.Section{about("## Ziel")}, "[0].title", "without the `#`"},
		"a citation":           {[]*compactordv1.Section{about("Ziel [#3]")}, "[0].title", "cites no message"},
		"no letter":            {[]*compactordv1.Section{about("Ziel"), about("1. 🎯")}, "[1].title", "a letter beside numbers, punctuation and the word `and`"},
		"only a joining word":  {[]*compactordv1.Section{about("& and")}, "[0].title", "the word `and`"},
		"a joining word alone": {[]*compactordv1.Section{about("And")}, "[0].title", "the word `and`"},
		"a title twice":        {[]*compactordv1.Section{about("Ziel"), about("Stand"), about("Ziel")}, "[2].title", "sections[0].title reads the same"},
		"but for the case":     {[]*compactordv1.Section{about("Ziel"), about("ZIEL")}, "[1].title", "reads the same"},
		"but for the number":   {[]*compactordv1.Section{about("1. Ziel"), about("2. Ziel")}, "[1].title", "reads the same"},
		"but for the signs":    {[]*compactordv1.Section{about("Fehler & Lösungen"), about("Fehler and Lösungen:")}, "[1].title", "reads the same"},
		"below another":        {[]*compactordv1.Section{group("Stand", about("Fertig"), about("fertig"))}, "[0].subsections[1].title", "sections[0].subsections[0].title reads the same"},
		"as the one above":     {[]*compactordv1.Section{group("Stand", about("Stand"))}, "[0].subsections[0].title", "reads the same"},
		"no role":              {[]*compactordv1.Section{about("Ziel"), {Title: "Stand"}}, "[1].role", "say what stands"},
		"no role below":        {[]*compactordv1.Section{group("Stand", &compactordv1.Section{Title: "Fertig"})}, "[0].subsections[0].role", "say what stands"},
		"a role and others":    {[]*compactordv1.Section{{Title: "Stand", Role: 3, Subsections: []*compactordv1.Section{about("Fertig")}}}, "[0].role", "leave the role out"},
		"others below a third": {[]*compactordv1.Section{group("A", group("B", about("C")))}, "[0].subsections[0].subsections", "beside it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := strategies.Resolve(withSections(c.list...))
			require.ErrorIs(t, err, strategies.ErrPolicy)
			var refused *strategies.PolicyError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, "policy.summary.sections.sections"+c.field, refused.Field)
			require.Contains(t, refused.What, c.says)
			require.False(t, strings.HasSuffix(refused.What, "."))
		})
	}
}

// A list of sections is replaced as a whole. Titles may be in any script and begin with each other.
func TestSectionsAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := sessiontest.Sections(rt)
		p, err := strategies.Resolve(&compactordv1.Policy{Preset: nil}, withSections(list...))
		require.NoError(rt, err)
		require.Equal(rt, list, p.GetSummary().GetSections().GetSections())
	})
}
