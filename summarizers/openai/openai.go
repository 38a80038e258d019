// Package openai asks models by the OpenAI API: Chat Completions or Responses, of OpenAI or of any server that speaks one
// of both, such as Ollama, vLLM, LM Studio or OpenRouter.
package openai

import _ "github.com/openai/openai-go/v3"
