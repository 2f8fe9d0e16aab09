// The certificate of a server that speaks https alone.

export interface ServerTls {
  /** PEM; undefined: there is none yet, and no handshake comes to its end. */
  readonly pair: () => { readonly cert: string; readonly key: string } | undefined
  /** @param handler called when there is another pair */
  readonly onChange: (handler: () => void) => void
}
