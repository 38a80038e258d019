package summarizers

import "errors"

// attempts is how often one text is asked for.
const attempts = 2

// Insist has a text written that passes. One that is refused is asked for once more, and write is told what for; a second
// refusal is final. Any other error of write ends it.
func Insist(write func(refused *CheckError) error) error {
	var refused *CheckError
	for range attempts {
		if err := write(refused); !errors.As(err, &refused) {
			return err
		}
	}
	return refused
}

// Accept returns a model's text as it is stored, or the *CheckError that it is refused for. Beside what Check demands, it
// has to say something: who was given a conversation can. No sections are demanded where the caller has replaced the
// instructions.
func Accept(req *Request, s *Summary) (string, error) {
	if err := acceptable(req, s); err != nil {
		return "", err
	}
	return Stored(req, WithoutThinking(s.Text)), nil
}

func acceptable(req *Request, s *Summary) error {
	err := Check(req, s)
	var refused *CheckError
	if errors.As(err, &refused) && refused.Check == CheckSections && req.PromptOverride != "" {
		err = nil
	}
	if err == nil && req.Kind != Observation && SaysNothing(s.Text) {
		return &CheckError{CheckEmpty, "All sections of the summary are empty."}
	}
	return err
}
