import { useState } from 'react';
import { CodeBlock } from '../../components/code-block';
import { useMessages } from '../../messages/language';

/** Receivers that check the signature, each with the library of the standard. */
const VERIFIERS = {
  JavaScript: `import { Webhook } from 'standardwebhooks';

// body: the request as it came, before any parsing
const event = new Webhook(process.env.WEBHOOK_SECRET).verify(body, {
  'webhook-id': request.headers['webhook-id'],
  'webhook-timestamp': request.headers['webhook-timestamp'],
  'webhook-signature': request.headers['webhook-signature'],
});`,
  Python: `import base64, hashlib, hmac, os

def is_genuine(headers, body: bytes) -> bool:
    secret = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
    given = [each.partition(",")[2] for each in headers["webhook-signature"].split()]
    return any(hmac.compare_digest(expected, each) for each in given)`,
  Go: `secret, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
mac := hmac.New(sha256.New, secret)
fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), header.Get("webhook-timestamp"), body)
expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
genuine := false
for _, given := range strings.Fields(header.Get("webhook-signature")) {
	genuine = genuine || hmac.Equal([]byte(expected), []byte(given))
}`,
} as const;

type VerifierLanguage = keyof typeof VERIFIERS;

export function Verifier() {
  const { webhooks } = useMessages();
  const [language, setLanguage] = useState<VerifierLanguage>('JavaScript');
  return (
    <details className="card folded">
      <summary>{webhooks.verify}</summary>
      <div className="card-body stack tight">
        <p className="muted">{webhooks.verifyText}</p>
        <div className="row" role="group" aria-label={webhooks.verify}>
          {(Object.keys(VERIFIERS) as VerifierLanguage[]).map((each) => (
            <button
              key={each}
              type="button"
              className={each === language ? 'button small chosen' : 'button small quiet'}
              aria-pressed={each === language}
              onClick={() => setLanguage(each)}
            >
              {each}
            </button>
          ))}
        </div>
        <CodeBlock name={language} code={VERIFIERS[language]} />
      </div>
    </details>
  );
}
