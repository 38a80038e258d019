package summarizers_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
)

const (
	goal        = compactordv1.SectionRole_SECTION_ROLE_GOAL
	constraints = compactordv1.SectionRole_SECTION_ROLE_CONSTRAINTS
	done        = compactordv1.SectionRole_SECTION_ROLE_DONE
	inProgress  = compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS
	problems    = compactordv1.SectionRole_SECTION_ROLE_PROBLEMS
	decisions   = compactordv1.SectionRole_SECTION_ROLE_DECISIONS
	nextSteps   = compactordv1.SectionRole_SECTION_ROLE_NEXT_STEPS
	about       = compactordv1.SectionRole_SECTION_ROLE_CONTEXT
	environment = compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT
	files       = compactordv1.SectionRole_SECTION_ROLE_FILES
	code        = compactordv1.SectionRole_SECTION_ROLE_CODE
)

// Text for which a list has no section goes into another one, in the order of docs/summaries.md.
func TestSectionFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role compactordv1.SectionRole
		// list are the roles of the sections; want is the role of the section that takes the text.
		list []compactordv1.SectionRole
		want int
	}{
		{goal, []compactordv1.SectionRole{about, inProgress, goal}, 2},
		{goal, []compactordv1.SectionRole{about, inProgress}, 1},
		{goal, []compactordv1.SectionRole{done, about}, 1},
		{constraints, []compactordv1.SectionRole{about, goal, constraints, constraints}, 2},
		{constraints, []compactordv1.SectionRole{about, goal}, 1},
		{constraints, []compactordv1.SectionRole{inProgress, about}, 1},
		{done, []compactordv1.SectionRole{about, inProgress}, 1},
		{inProgress, []compactordv1.SectionRole{about, done}, 1},
		{problems, []compactordv1.SectionRole{done, inProgress}, 1},
		{problems, []compactordv1.SectionRole{about, done}, 1},
		{decisions, []compactordv1.SectionRole{goal, about}, 1},
		{nextSteps, []compactordv1.SectionRole{about, inProgress}, 1},
		{nextSteps, []compactordv1.SectionRole{done, about}, 1},
		{about, []compactordv1.SectionRole{decisions, environment}, 1},
		{about, []compactordv1.SectionRole{done, decisions}, 1},
		{about, []compactordv1.SectionRole{inProgress, done}, 1},
		{about, []compactordv1.SectionRole{goal, inProgress}, 1},
		{about, []compactordv1.SectionRole{files, goal}, 1},
		{about, []compactordv1.SectionRole{files, nextSteps}, 1},
		{environment, []compactordv1.SectionRole{decisions, about}, 1},
		{files, []compactordv1.SectionRole{about, code}, 1},
		{files, []compactordv1.SectionRole{done, about}, 1},
		{code, []compactordv1.SectionRole{about, files}, 1},
	} {
		var headings []summarizers.Heading
		for _, role := range c.list {
			headings = append(headings, summarizers.Heading{Level: 2, Role: role})
		}
		require.Equal(t, c.want, summarizers.SectionFor(headings, c.role), "%v in %v", c.role, c.list)
	}
	rapid.Check(t, func(t *rapid.T) {
		headings := summarizers.Headings(summarizers.History, sessiontest.Sections(t))
		for role := range compactordv1.SectionRole_name {
			at := summarizers.SectionFor(headings, compactordv1.SectionRole(role))
			require.False(t, summarizers.Groups(headings, at), "no line stands there")
		}
	})
}
