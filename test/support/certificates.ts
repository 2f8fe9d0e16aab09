// What tests of certificates share: a store in memory, a certificate, and a CA that says what it is
// told.
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { CaProblem } from '#integrations/acme/ca-transport.ts'
import type { OrderCertificate, OrderedCertificate } from '#integrations/acme/order-certificate.ts'
import type { Result } from '#lib/result.ts'
import type { CertificateStore, StoredCertificate } from '#state/ports/certificates.ts'

export interface MemoryStore extends CertificateStore {
  /** Answers nothing while it is true. */
  isAway: boolean
  row: StoredCertificate | null
  nowMs: () => number
}

export function memoryStore(): MemoryStore {
  const away = err({ code: 'store-away', message: 'The database is away.' } as const)
  const store: MemoryStore = {
    isAway: false,
    row: null,
    nowMs: Date.now,
    load: async () => (store.isAway ? away : ok({ stored: store.row, nowMs: store.nowMs() })),
    swap: async (version, sealed) => {
      if (store.isAway) return away
      if ((store.row?.version ?? 0) !== version) {
        return err({ code: 'changed-meanwhile', message: 'Another one was first.' })
      }
      store.row = { version: version + 1, sealed }
      return ok(version + 1)
    },
  }
  return store
}

export const lifeMs = 90 * 86_400_000

export const orderedAt = (nowMs: number, chain = `chain of ${nowMs}`): OrderedCertificate => ({
  ...{ chain, key: 'key', notBeforeMs: nowMs - 3_600_000, notAfterMs: nowMs - 3_600_000 + lifeMs },
})

/** @param answer called for each order */
export function standInCa(
  answer: () => Result<OrderedCertificate, CaProblem>,
  clockOffsetMs: number | null = 0,
): { readonly order: OrderCertificate; readonly asked: Parameters<OrderCertificate>[0][] } {
  const asked: Parameters<OrderCertificate>[0][] = []
  const order: OrderCertificate = async (order) => {
    asked.push(order)
    return { result: answer(), clockOffsetMs }
  }
  return { order, asked }
}

/** Keeps what is said, as `LEVEL: SENTENCE`. */
export function keptLog(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = []
  const level = (name: string) => (_fields: object, message: string) => {
    lines.push(`${name}: ${message}`)
  }
  return { log: { info: level('info'), warn: level('warn'), error: level('error') }, lines }
}

/** The certificate of RFC 9773, appendix A; its id is `aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE`. */
export const certificateOfRfc = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----
`
