/**
 * The gateway in words for language models that write code or settings, in the form of llmstxt.org.
 *
 * @param url the address of the gateway, without a path.
 */
export const llmsText = (url: string): string => `# Generation gateway

> One address and one API key for text in four interfaces (OpenAI responses, OpenAI chat completions, Anthropic messages, Google
> generateContent), for embeddings, files and vector stores, and for video and image tasks. Every text model answers in every interface.

- Base URL for OpenAI's interfaces: ${url}/v1
- Base URL for Anthropic's and Google's interfaces: ${url}
- Key: \`Authorization: Bearer KEY\`; also \`x-api-key\` (messages) and \`x-goog-api-key\` (generateContent)
- Models: \`GET ${url}/v1/models\`; names match exactly, and nothing stands in front of them
- Errors have the shape of the interface; \`x-should-retry\` says whether to repeat, \`retry-after\` when, \`x-request-id\` what to report
- A 429 of the vendor has the code \`upstream_rate_limited\` and \`x-gateway-limited-by: upstream\`; every other one is a limit of the gateway
- Bodies may have \`Content-Encoding\` gzip, deflate or br; there are no WebSockets

## Clients

- Claude Code: \`ANTHROPIC_BASE_URL=${url}\`, \`ANTHROPIC_AUTH_TOKEN=KEY\`, \`--model MODEL\`
- Codex (\`~/.codex/config.toml\`): a \`[model_providers.gateway]\` with \`base_url = "${url}/v1"\`, \`env_key = "GATEWAY_KEY"\`,
  \`wire_api = "responses"\`, \`supports_websockets = false\`, and \`model_provider = "gateway"\`
- Gemini CLI: \`GOOGLE_GEMINI_BASE_URL=${url}\`, \`GEMINI_API_KEY=KEY\`, \`-m MODEL\`
- opencode: a provider with \`npm: "@ai-sdk/openai-compatible"\` and \`options: { baseURL: "${url}/v1", apiKey: KEY }\`
- openai (Python, JavaScript): \`base_url="${url}/v1"\`; aider, Cline, Roo Code, Continue, Cursor, Open WebUI and LiteLLM take the same
- anthropic (Python, JavaScript): \`base_url="${url}"\`
- google-genai (Python, JavaScript): \`http_options={"base_url": "${url}"}\`
- AI SDK: \`baseURL\` ${url}/v1 for @ai-sdk/openai, openai-compatible and anthropic; ${url}/v1beta for @ai-sdk/google

## Reference

- [OpenAPI 3.1](${url}/openapi.json): every route, field and error
- [The same as a page](${url}/docs): to read and to try
`;
