package extractive

// tongue is a language whose phrases count only in sentences of that language, since other languages have the same
// words.
type tongue uint8

const (
	// anyTongue is for phrases that hardly mean anything else in another language.
	anyTongue tongue = iota
	inEnglish
	inSpanish
	inPortuguese
	inFrench
	inGerman
	// inRussian has letters of its own.
	inRussian
	tongues
)

// functionWords are words that tell languages apart, with the languages that they belong to.
var functionWords = compileFunctionWords([tongues]string{
	inEnglish: `the a an is are was were be been to of and or in on at for with that this it we you i not no do does don't if as by from has have will should
		must can use but when so all any my your our they its i'm it's let's`,
	inSpanish: `el la los las un una de del que en y o por para con no se es son está están lo al como pero su sus ya más sin sobre esto esta este eso hay ha he
		hemos nos me te muy`,
	inPortuguese: `o a os as um uma de do da dos das que em e ou por para com não se é são está no na nos nas ao mas como já mais sem isso esta este há foi foram
		eu nós pelo pela`,
	inFrench: `le la les un une de des du que qu et ou en pour par avec ne n pas se est sont dans sur au aux ce c cette il elle on nous vous je j qui mais sans d l
		s t tu a été`,
	inGerman: `der die das den dem des ein eine einen einem einer und oder nicht kein keine ist sind war im in auf mit für von zu zum zur es wir ich sie bitte
		aber auch noch wird werden als bei aus nur du dass vor nach an`,
})

func compileFunctionWords(lists [tongues]string) map[string][]tongue {
	byWord := map[string][]tongue{}
	for t, list := range lists {
		for word := range wordSet(list) {
			byWord[word] = append(byWord[word], tongue(t))
		}
	}
	return byWord
}

// speaks says whether the sentence that was scanned last is in a language, as far as its function words tell. A
// sentence without any may be in each of them.
func (c *cueReader) speaks(t tongue) bool {
	if t == anyTongue || t == inRussian {
		return true
	}
	if !c.counted {
		c.counted, c.spoken = true, [tongues]int{}
		for _, span := range c.words.spans {
			for _, known := range functionWords[string(c.words.lower[span.start:span.end])] {
				c.spoken[known]++
			}
		}
	}
	if t != inEnglish {
		return c.spoken[t] >= c.spoken[inEnglish]
	}
	for other := inSpanish; other < inRussian; other++ {
		if c.spoken[other] > c.spoken[inEnglish] {
			return false
		}
	}
	return true
}
