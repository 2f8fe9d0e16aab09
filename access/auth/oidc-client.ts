// Implements the OpenID Connect client by openid-client: discovery, code flow with PKCE, `state`,
// `nonce`, signed ID tokens.
import * as oidc from 'openid-client'
import type { CustomFetch } from 'openid-client'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Claims, OidcPolicy } from './oidc-claims.ts'
import { faultOfDiscovery, faultOfLogin } from './oidc-faults.ts'
import type { OidcFault } from './oidc-faults.ts'
import { boundedBytes } from '#lib/http/bounded-body.ts'

export interface OidcSettings extends OidcPolicy {
  /** The issuer: https, or http on this machine. */
  readonly discoveryUrl: string
  readonly clientId: string
  /** Must not be logged. */
  readonly clientSecret: string
  readonly redirectUri: string
  /** Includes `openid`. */
  readonly scopes: readonly string[]
}

/** State of a login between its two requests. The values are secret and must not be logged. */
export interface OidcLogin {
  readonly state: string
  readonly nonce: string
  /** Code verifier of PKCE (RFC 7636). */
  readonly verifier: string
}

/** Query parameters of the callback (RFC 6749 section 4.1.2, RFC 9207). */
export interface OidcAnswer {
  readonly code: string | undefined
  readonly state: string | undefined
  readonly iss: string | undefined
  readonly error: string | undefined
  readonly error_description: string | undefined
}

interface OidcBeginning {
  readonly url: string
  readonly login: OidcLogin
}

export interface OidcClient {
  readonly policy: OidcPolicy
  /** @returns where to send the browser, and what to keep until its return */
  readonly begin: () => Promise<Result<OidcBeginning, OidcFault>>
  /** @returns the claims of userinfo, with `iss` and `sub` of the ID token */
  readonly finish: (answer: OidcAnswer, login: OidcLogin) => Promise<Result<Claims, OidcFault>>
}

/** A burst of logins fetches once; new keys or addresses of the provider apply soon. */
const metadataKeptMs = 10_000

export function createOidcClient(settings: OidcSettings, clock: Clock): OidcClient {
  const discovery = new Discovery(settings, clock)
  return {
    policy: settings,
    begin: async () => {
      const metadata = await discovery.metadata()
      if (!metadata.ok) return metadata
      try {
        return ok(await authorization(settings, configurationOf(settings, metadata.value)))
      } catch (error) {
        return err(faultOfDiscovery(error))
      }
    },
    finish: async (answer, login) => {
      const metadata = await discovery.metadata()
      if (!metadata.ok) return metadata
      try {
        return ok(
          await exchange(configurationOf(settings, metadata.value), settings, answer, login),
        )
      } catch (error) {
        discovery.forget()
        return err(faultOfLogin(error))
      }
    },
  }
}

/** Throws what openid-client throws about metadata. */
async function authorization(
  { redirectUri, scopes }: OidcSettings,
  configuration: oidc.Configuration,
): Promise<OidcBeginning> {
  const login = {
    state: oidc.randomState(),
    nonce: oidc.randomNonce(),
    verifier: oidc.randomPKCECodeVerifier(),
  }
  const url = oidc.buildAuthorizationUrl(configuration, {
    redirect_uri: new URL(redirectUri).href,
    scope: scopes.join(' '),
    state: login.state,
    nonce: login.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(login.verifier),
    code_challenge_method: 'S256',
  })
  return { url: url.href, login }
}

/** Throws what openid-client throws. */
async function exchange(
  configuration: oidc.Configuration,
  { redirectUri }: OidcSettings,
  answer: OidcAnswer,
  { state, nonce, verifier }: OidcLogin,
): Promise<Claims> {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(answer) as [string, string | undefined][]) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  const tokens = await oidc.authorizationCodeGrant(configuration, url, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  })
  const { iss, sub } = tokens.claims() ?? { iss: '', sub: '' }
  const userinfo = await oidc.fetchUserInfo(configuration, tokens.access_token, sub)
  return { ...userinfo, iss, sub }
}

/** Made for one login, so that nothing cached with it, such as provider keys, outlives it. */
function configurationOf(
  { clientId, clientSecret, discoveryUrl }: OidcSettings,
  metadata: oidc.ServerMetadata,
): oidc.Configuration {
  const authentication = authenticationOf(clientSecret, metadata)
  const configuration = new oidc.Configuration(metadata, clientId, undefined, authentication)
  configuration[oidc.customFetch] = boundedFetch(AbortSignal.timeout(oidcLimits.loginMs))
  // The code flow may rely on TLS (OpenID Connect Core section 3.1.3.7); a signature is better.
  oidc.enableNonRepudiationChecks(configuration)
  if (isOnThisMachine(discoveryUrl)) oidc.allowInsecureRequests(configuration)
  return configuration
}

/** Basic is the default (OpenID Connect Discovery section 3). */
function authenticationOf(secret: string, metadata: oidc.ServerMetadata): oidc.ClientAuth {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const isBasic = methods.includes('client_secret_basic')
  return isBasic ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret)
}

class Discovery {
  readonly #settings: OidcSettings
  readonly #clock: Clock
  #kept: { readonly metadata: oidc.ServerMetadata; readonly untilMs: number } | null = null
  #asking: Promise<Result<oidc.ServerMetadata, OidcFault>> | null = null

  constructor(settings: OidcSettings, clock: Clock) {
    this.#settings = settings
    this.#clock = clock
  }

  /** Callers who need the metadata at the same time share a request. */
  async metadata(): Promise<Result<oidc.ServerMetadata, OidcFault>> {
    const kept = this.#kept
    if (kept !== null && kept.untilMs > this.#clock.monotonicMs()) return ok(kept.metadata)
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  forget(): void {
    this.#kept = null
  }

  async #ask(): Promise<Result<oidc.ServerMetadata, OidcFault>> {
    const { discoveryUrl, clientId } = this.#settings
    try {
      const found = await oidc.discovery(new URL(discoveryUrl), clientId, undefined, oidc.None(), {
        [oidc.customFetch]: boundedFetch(AbortSignal.timeout(oidcLimits.discoveryMs)),
        execute: isOnThisMachine(discoveryUrl) ? [oidc.allowInsecureRequests] : [],
      })
      const metadata = found.serverMetadata()
      this.#kept = { metadata, untilMs: this.#clock.monotonicMs() + metadataKeptMs }
      return ok(metadata)
    } catch (error) {
      this.#kept = null
      return err(faultOfDiscovery(error))
    }
  }
}

const oidcLimits = {
  /** Documents of a provider have a few kilobytes; with very many keys, tens of them. */
  bytesMax: 1024 * 1024,
  /** Time for discovery, and then for the rest of a login. */
  discoveryMs: 4_000,
  loginMs: 8_000,
} as const

/** Whether an address is on this machine: others need TLS. */
function isOnThisMachine(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)
}

/**
 * Sends requests to the identity provider: bounded in size, with TLS unless on loopback.
 *
 * @param deadline of a whole login; aborts what is under way
 */
export function boundedFetch(deadline: AbortSignal): CustomFetch {
  return async (url, options) => {
    // openid-client would permit plain HTTP for every address that the provider names.
    if (new URL(url).protocol !== 'https:' && !isOnThisMachine(url)) {
      throw new TypeError('the provider names an address without TLS that is not on this machine')
    }
    const { signal } = options
    const answer = await fetch(url, {
      ...(options as RequestInit),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    })
    const { status, statusText, headers } = answer
    const bytes = await boundedBytes(answer.body, oidcLimits.bytesMax)
    return new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers })
  }
}
