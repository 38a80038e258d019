/**
 * Types that few programs name: the words of the contract, the messages of the providers, and the parts of definitions of
 * tools and of errors.
 *
 * @packageDocumentation
 */
export type { AgentToolName, ToolParameter, ToolParameters, ToolShapes } from "./agentTools/tools.js";
export type { ClientReasonName, ErrorFacts, FieldViolation, ReasonName, StatusName } from "./wire/errors.js";
export type {
  AnthropicBlock,
  AnthropicCacheControl,
  AnthropicMedia,
  AnthropicMessage,
  AnthropicText,
  ChatMessage,
  ChatPart,
  ChatText,
  ChatToolCall,
  GeminiContent,
  GeminiPart,
  Of,
  ProviderMessages,
  ProviderRequests,
  ProviderSystems,
  ResponsesItem,
  ResponsesPart,
} from "./contract/providerTypes.js";
export type {
  BlockPlaceName,
  ChildrenOnDeleteName,
  CompactionReasonName,
  EstimatorName,
  RecordKindName,
  RoleName,
  SkipReasonName,
  StateName,
  StopReasonName,
  ThinkingName,
  Word,
} from "./contract/words.js";
