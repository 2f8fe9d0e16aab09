// Requests to the API that would send more clients elsewhere than `gslb.yaml` permits.
import { describe, expect, test } from 'vitest'
import type { ConfigWriter } from '#api/config/writer.ts'
import { MovedGuard } from '#cli/plan/moved-guard.ts'
import type { WriteRequest } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'

const request: WriteRequest = {
  requestId: 'r',
  actor: { name: 'user:1', address: 'user-1@users.gslbd' },
  operations: [],
}
const dry = { ...request, isDryRun: true } as const
const meant = { ...request, override: 'a new site' } as const
const told = { revision: 'c', isChanged: true, objects: [], warnings: [], affected: [] }

function scene(limit: number | null, effect: string | undefined) {
  const asked: WriteRequest[] = []
  const writer: ConfigWriter = {
    write: async (one) => {
      asked.push(one)
      return ok(one.isDryRun === true && effect !== undefined ? { ...told, effect } : told)
    },
  }
  const warned: object[] = []
  const log = { warn: (fields: object, text: string) => void warned.push({ ...fields, text }) }
  return { guard: new MovedGuard({ writer, limit: () => limit, log }), asked, warned }
}

describe('a write', () => {
  test.each<[label: string, limit: number | null, effect: string | undefined]>([
    ['that moves as many as may', 50, 'moved=50%; names=1'],
    ['that moves hardly anybody', 0, 'moved=<0.1%; names=1'],
  ])('%s is planned and made', async (_label, limit, effect) => {
    const { guard, asked, warned } = scene(limit, effect)
    expect(await guard.write(request)).toEqual(ok(told))
    expect(asked).toEqual([dry, request])
    expect(warned).toEqual([])
  })

  test('that cannot be planned in time is made, and says that nobody has judged it', async () => {
    const { guard, asked, warned } = scene(30, undefined)
    const unjudged = ok({ ...told, effect: 'moved=unknown' })
    expect(await guard.write(dry)).toEqual(unjudged)
    expect(warned).toEqual([])
    expect(await guard.write(request)).toEqual(unjudged)
    expect(asked).toEqual([dry, dry, request])
    expect(warned).toEqual([
      {
        ...{ requestId: 'r', actor: 'user:1', revision: 'c', movedClients: 30 },
        text: expect.stringContaining('without being judged by guardrails.movedClients') as string,
      },
    ])
  })

  test.each([request, dry])('that moves more is refused, and a dry run of it (%#)', async (one) => {
    const { guard, asked } = scene(50, 'moved=50.1%; names=1')
    const done = await guard.write(one)
    expect(done.ok ? undefined : done.error).toMatchObject({
      code: 'guarded',
      guardrail: 'movedClients',
      message: expect.stringMatching(
        /50.1 % of the clients .* 50 % of guardrails.movedClients.*X-Gslb-Override: REASON/,
      ) as string,
    })
    expect(asked).toEqual([dry])
  })

  test('that is meant is made, and is not planned', async () => {
    const { guard, asked } = scene(0, 'moved=100%; names=1')
    expect((await guard.write(meant)).ok).toBe(true)
    expect(asked).toEqual([meant])
  })

  test('costs nothing without a limit', async () => {
    const { guard, asked } = scene(null, 'moved=100%; names=1')
    await guard.write(request)
    await guard.write(dry)
    expect(asked).toEqual([request, dry])
  })

  test('that cannot be made is refused as ever', async () => {
    const failure = { code: 'not-found', message: 'x', operation: 0, diagnostics: [] } as const
    const writer: ConfigWriter = { write: async () => err(failure) }
    const guard = new MovedGuard({ writer, limit: () => 10, log: { warn: () => undefined } })
    expect(await guard.write(request)).toEqual(err(failure))
  })
})
