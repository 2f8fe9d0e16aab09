// Verifies webhooks of forges, which GitHub, GitLab, Gitea and Bitbucket sign or mark by a shared
// secret.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { AuthPolicy } from '#access/auth/policy.ts'
import { refused } from '#http/reply.ts'

type Proof = (secret: string, body: Uint8Array) => string

const hmac: Proof = (secret, body) => createHmac('sha256', secret).update(body).digest('hex')

/** By header: the value that a sender with the secret sends. The first header counts. */
const proofs: Readonly<Record<string, Proof>> = Object.freeze({
  'x-hub-signature-256': (secret, body) => `sha256=${hmac(secret, body)}`,
  'x-hub-signature': (secret, body) => `sha256=${hmac(secret, body)}`,
  'x-gitea-signature': hmac,
  'x-gitlab-token': (secret) => secret,
})

export const unsignedWebhook = refused(
  401,
  'the webhook is not signed with GSLB_WEBHOOK_SECRET of this node; set the same secret in both',
)

/** Whether a request presents itself as a webhook; without a secret none does. */
export function isWebhook({ headers }: FastifyRequest, { webhookSecret }: AuthPolicy): boolean {
  return typeof webhookSecret === 'string' && proofIn(headers) !== undefined
}

/** @param request with its body as octets */
export function isSigned({ headers, body }: FastifyRequest, auth: AuthPolicy): boolean {
  const { webhookSecret } = auth
  const proof = proofIn(headers)
  if (typeof webhookSecret !== 'string' || proof === undefined) return false
  const bytes = body instanceof Uint8Array ? body : new Uint8Array()
  const shown = headers[proof.header]
  return typeof shown === 'string' && isSame(proof.make(webhookSecret, bytes), shown)
}

/** Compares in constant time. */
function isSame(expected: string, shown: string): boolean {
  const hashOf = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest()
  return timingSafeEqual(hashOf(expected), hashOf(shown))
}

function proofIn(headers: FastifyRequest['headers']): { header: string; make: Proof } | undefined {
  for (const [header, make] of Object.entries(proofs)) {
    if (headers[header] !== undefined) return { header, make }
  }
  return undefined
}
