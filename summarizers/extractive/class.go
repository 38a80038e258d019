package extractive

// class is a group of items that share a part of the budget. The classes are served in this order.
type class uint8

const (
	classLast class = iota
	classUserRule
	classRule
	classPrefer
	// classStated is for short statements of the user, which may be rules, if the budget is small.
	classStated
	// classSaid is for short messages of the user, which stay word for word, and classTold for longer ones.
	classSaid
	classTold
	classError
	classFocus
	classPlan
	classDecision
	// classEarlier is for an earlier summary that another tool wrote.
	classEarlier
	// classChanged is for files that were changed, and classFile for those that were read.
	classChanged
	// classWish is for what the user may have said as a rule.
	classWish
	classFact
	classFile
	classWork
	// classCrowd is for the rules of a message with very many rules, beyond those that are served with other rules.
	classCrowd
	classSoft
	// classAnswered is for questions that were answered at once.
	classAnswered
	classes
)

// again is the order in which what is left goes to the classes. A long last request waits for what a few lines say.
var again = []class{
	classUserRule, classRule, classPrefer, classStated, classSaid, classError, classFocus, classPlan, classDecision, classEarlier, classChanged, classLast, classTold, classWish, classFact, classFile, classWork,
	classCrowd, classSoft, classAnswered,
}

// saidClasses are those of what the user said beside rules.
var saidClasses = []class{classStated, classSaid, classTold}

// isEssential says whether a class is a reason for a larger narrative.
func isEssential(c class) bool { return c >= classUserRule && c <= classPrefer || isWork(c) }

// isWork says whether a class says where the work stands.
func isWork(c class) bool {
	switch c {
	case classError, classFocus, classPlan, classDecision, classChanged:
		return true
	default:
		return false
	}
}

// terms says how a class is served. Sizes are in units (see units).
type terms struct {
	// share is how many percent of the remaining budget it may use when it is served first.
	share int
	// sure is how many units it may use then in any case.
	sure int
	// most is the most units of one text, and least how short a text may become before it is left out. opening is the
	// most units when it is served first; 0 is no limit of its own.
	most, least, opening int
	// ranked says that no item is there, and none is longer than at least, before all that rank above it are there. So a
	// larger budget shows all that a smaller one does.
	ranked bool
	// brief says that of what does not fit the first sentence is shown.
	brief bool
}

var termsOf = [classes]terms{
	classLast:     {share: 40, most: maxRequest, least: 60},
	classUserRule: {share: 40, sure: 800, most: maxRule, least: 160},
	classRule:     {share: 30, sure: 500, most: maxRule, least: 160},
	classPrefer:   {share: 30, sure: 700, most: maxRule, least: 160},
	classStated:   {share: 60, sure: 1200, most: maxSaid, least: maxSaid, ranked: true},
	classSaid:     {share: 50, most: maxSaid, least: maxSaid, ranked: true},
	classTold:     {share: 50, most: 1500, least: maxSaid, opening: maxSaid, ranked: true},
	classError:    {share: 30, sure: 200, most: maxErrorText + maxCommand, least: 160},
	classFocus:    {share: 40, most: maxRule, least: 120},
	classPlan:     {share: 40, sure: 130, most: 400, least: 100},
	classDecision: {share: 35, most: maxRule, least: 160},
	classEarlier:  {share: 50, most: maxRule, least: 160},
	classChanged:  {share: 35, most: 300, least: 240},
	classWish:     {share: 30, most: 240, least: 160},
	classFact:     {share: 30, most: 400, least: 160},
	classFile:     {share: 25, most: 300, least: 240},
	classWork:     {share: 30, sure: 150, most: 560, least: 120},
	classCrowd:    {share: 0, most: maxRule, least: 160},
	classSoft:     {share: 0, most: 240, least: 160},
	classAnswered: {share: 0, most: maxSaid, least: maxSaid},
}
