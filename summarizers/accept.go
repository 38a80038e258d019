package summarizers

import "errors"

// attempts is how often one text is requested at most.
const attempts = 2

// Insist calls write until its text passes the checks, at most twice. The second call gets the error of the first text.
// It returns the second error if that text is refused, too. It returns any other error of write at once.
func Insist(write func(refused *CheckError) error) error {
	var refused *CheckError
	for range attempts {
		if err := write(refused); !errors.As(err, &refused) {
			return err
		}
	}
	return refused
}

// Accept returns a model's text in the form in which it is stored, or the *CheckError for which the text is refused.
// Beyond the checks of Check, it refuses a summary whose sections are all empty, and a fragment, since a model that was
// given a conversation can say something. It requires no sections where the caller has replaced the instructions.
func Accept(req *Request, s *Summary) (string, error) {
	stored, err := Checked(req, s)
	if req.Kind == Observation {
		if err != nil {
			return "", err
		}
		return stored, nil
	}
	if err == nil {
		err = checkFragment(req, WithoutThinking(s.Text))
	}
	var refused *CheckError
	if errors.As(err, &refused) && refused.Check == CheckSections && req.PromptOverride != "" {
		err = nil
	}
	if err == nil && SaysNothing(s.Text) {
		err = &CheckError{CheckEmpty, "All sections of the summary are empty."}
	}
	if err != nil {
		return "", err
	}
	return stored, nil
}
