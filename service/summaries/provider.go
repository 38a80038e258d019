package summaries

import (
	"errors"
	"sync"

	"github.com/compactord/compactord/summarizers"
)

// provider is what is known of who is behind the summarizer. Several texts may be written at a time.
type provider struct {
	mu sync.Mutex
	// asked is the name of the summarizer, once it was asked.
	asked string
	// gone is why the provider is not asked again in this operation; nil where it may be.
	gone error
}

// ask notes that a summarizer is asked. The error is why its provider is not to be.
func (p *provider) ask(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = name
	return p.gone
}

func (p *provider) name() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// failed notes why a text was not written. A provider that no other request of the operation would reach is not asked
// again.
func (p *provider) failed(failure error) {
	var e *summarizers.ProviderError
	if !errors.As(failure, &e) || !e.Retryable && !e.RefusesAll {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = failure
}
