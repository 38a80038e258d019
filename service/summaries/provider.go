package summaries

import (
	"errors"
	"sync"

	"github.com/compactord/compactord/summarizers"
)

// provider is what an operation has learned about the summarizer's provider. Several texts may be written at a time.
type provider struct {
	mu sync.Mutex
	// asked is the name of the summarizer; empty before it is asked.
	asked string
	// unusable is the reason why the provider is not asked again in this operation; nil where it may be.
	unusable error
}

// ask notes that a summarizer is asked. It returns an error where its provider must not be asked again.
func (p *provider) ask(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = name
	return p.unusable
}

func (p *provider) name() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// failed notes why a text was not written. Where the failure would repeat for every request of the operation, the
// provider is not asked again.
func (p *provider) failed(failure error) {
	var e *summarizers.ProviderError
	if !errors.As(failure, &e) || !e.Retryable && !e.RefusesAll {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unusable = failure
}
