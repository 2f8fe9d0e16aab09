// The certificates of a server that speaks https alone.
import type { SecureContext } from 'node:tls'

export interface ServerTls {
  /** The default, in PEM; undefined: there is none yet, and no handshake comes to its end. */
  readonly pair: () => { readonly cert: string; readonly key: string } | undefined
  /** Chooses another by the name that a client asks for; left out: there is no other. */
  readonly byName?:
    | ((serverName: string, done: (error: Error | null, context?: SecureContext) => void) => void)
    | undefined
  /** @param handler called when there is another pair */
  readonly onChange: (handler: () => void) => void
}
