// An OpenID provider on this machine: the certified one of npm, with automatic logins.
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error: the package brings no types
import untypedProvider from 'oidc-provider'

interface Grant {
  readonly addOIDCScope: (scope: string) => void
  readonly save: () => Promise<string>
}
/** The used part of its interface. */
interface Provider {
  readonly Grant: new (about: { accountId: string; clientId: string }) => Grant
  readonly callback: () => (request: IncomingMessage, response: ServerResponse) => void
  readonly interactionFinished: (
    request: IncomingMessage,
    response: ServerResponse,
    result: object,
  ) => Promise<void>
}
const Provider = untypedProvider as new (issuer: string, configuration: object) => Provider

export const clientId = 'gslbd'
export const clientSecret = 'a secret + of 50% & more'

/** A private JWK. */
type SigningKey = Readonly<Record<string, string>>

type ProviderClaims = Readonly<Record<string, unknown>>

export interface IdentityProvider {
  readonly issuer: string
  /** Claims of the person who logs in next. */
  person: ProviderClaims
  /** Changes the claims of ID tokens, which are then signed by `signer`. */
  tamper: ((claims: Record<string, unknown>) => Record<string, unknown>) | null
  /** The provider's own key, or a foreign one. */
  signer: SigningKey
  /** Overrides responses by path. */
  readonly answers: Map<string, (response: ServerResponse) => void>
  /** Requested paths. */
  readonly asked: string[]
  readonly stop: () => Promise<void>
}

export function newSigningKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kid = randomBytes(8).toString('hex')
  return { ...(privateKey.export({ format: 'jwk' }) as SigningKey), kid, alg: 'ES256', use: 'sig' }
}

/** @param port 0: a free one; the port of a stopped provider: its successor, with other keys */
export async function startIdentityProvider(
  redirectUri: string,
  { port = 0, method = 'client_secret_basic' } = {},
): Promise<IdentityProvider> {
  const key = newSigningKey()
  const server = createServer((request, response) => void serve(request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = providerOf(issuer, key, redirectUri, method, () => state.person)
  const handle = provider.callback()
  const state: IdentityProvider = {
    issuer,
    person: { sub: 'ann', email: 'ann@example.com', email_verified: true },
    tamper: null,
    signer: key,
    answers: new Map(),
    asked: [],
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?', 1)[0] ?? ''
    state.asked.push(path)
    const other = state.answers.get(path)
    if (other !== undefined) return other(response)
    if (path === '/token' && state.tamper !== null) tamperWith(response, state)
    if (!path.startsWith('/interaction/')) return handle(request, response)
    const login = { accountId: String(state.person['sub']) }
    await provider.interactionFinished(request, response, { login })
  }
  return state
}

function providerOf(
  issuer: string,
  key: SigningKey,
  redirectUri: string,
  method: string,
  person: () => ProviderClaims,
): Provider {
  const provider: Provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: method,
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientAuthMethods: [method],
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    claims: { email: ['email', 'email_verified'], profile: ['name', 'groups', 'access'] },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ ...person(), sub }),
    }),
    // Grants consent without asking.
    loadExistingGrant: async (context: { oidc: { session: { accountId?: string } } }) => {
      const { accountId } = context.oidc.session
      if (accountId === undefined) return undefined
      const grant = new provider.Grant({ accountId, clientId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
      IdToken: 60,
      Grant: 60,
      Interaction: 60,
      Session: 60,
    },
  })
  return provider
}

/** Changes the ID token in a response of the token endpoint. */
function tamperWith(response: ServerResponse, { tamper, signer }: IdentityProvider): void {
  const end = response.end.bind(response) as (text: string) => ServerResponse
  response.end = ((text: Buffer | string) => {
    const answer = JSON.parse(text.toString()) as { id_token: string }
    const [, payload = ''] = answer.id_token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as ProviderClaims
    const other = tamper?.({ ...claims }) ?? claims
    const changed = JSON.stringify({ ...answer, id_token: signed(other, signer) })
    response.setHeader('content-length', Buffer.byteLength(changed))
    return end(changed)
  }) as ServerResponse['end']
}

function signed(claims: ProviderClaims, key: SigningKey): string {
  const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
  const text = `${encoded({ alg: 'ES256', kid: key['kid'], typ: 'JWT' })}.${encoded(claims)}`
  const privateKey = createPrivateKey({ key, format: 'jwk' })
  const bytes = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${bytes.toString('base64url')}`
}
