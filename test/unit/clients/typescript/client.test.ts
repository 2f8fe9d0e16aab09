import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ApiError,
  ChangedMeanwhile,
  Unreachable,
  createClient,
  entries,
  pages,
  readIfChanged,
  update,
} from '#clients/typescript/client.ts'
import type { Client } from '#clients/typescript/client.ts'
import { startClientWorld } from '#test/support/client-world.ts'
import type { ClientWorld } from '#test/support/client-world.ts'
import { freePort } from '#test/support/free-port.ts'
import { waitUntil } from '#test/support/wait-until.ts'

let world: ClientWorld
let client: Client
beforeAll(async () => {
  world = await startClientWorld()
  client = world.clientOf()
})
afterAll(() => world.close())

const pools = '/api/v1/pools'
const pool = '/api/v1/pools/{id}'

async function newPool(name: string): Promise<string> {
  return (await client.post(pools, { body: { name } })).body.id
}

describe('a call', () => {
  test('makes, reads and deletes an object, and says which commit that was', async () => {
    const subject = 'a pool for Zürich'
    const made = await client.post(pools, { body: { name: 'first' }, subject })
    expect(made).toMatchObject({ status: 201, body: { name: 'first' } })
    expect(made.revision).toBe(world.world.git('rev-parse', 'main'))
    expect(world.world.git('log', '-1', '--format=%s', 'main')).toBe(subject)
    const { id } = made.body
    const read = await client.get(pool, { params: { id } })
    expect([read.body, read.etag]).toEqual([made.body, made.etag])
    const gone = await client.delete(pool, { params: { id }, ifMatch: read.etag })
    expect(gone).toMatchObject({ status: 204, body: null })
    await expect(client.get(pool, { params: { id } })).rejects.toMatchObject({ status: 404 })
  })

  test('makes no commit as a dry run', async () => {
    const before = world.world.git('rev-parse', 'main')
    const given = { body: { name: 'tried' }, query: { dryRun: true } }
    const { headers } = await client.post(pools, given)
    expect(headers.get('x-gslb-dry-run')).toBe('true')
    expect(world.world.git('rev-parse', 'main')).toBe(before)
  })

  test('throws the sentence of a refusal, its status and its request', async () => {
    const error = await client.post(pools, { body: { name: '' } }).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 400, method: 'POST', path: pools, diagnostics: [] })
    expect((error as ApiError).message).toMatch(/^name: /)
    expect((error as ApiError).requestId).toMatch(/\w{8}/)
  })

  test.each([
    ['a wrong key', 'x'.repeat(64)],
    ['no key', ''],
  ])('with %s is refused with 401, at once', async (_title, apiKey) => {
    const refused = world.clientOf({ apiKey }).get(pools)
    await expect(refused).rejects.toMatchObject({ name: 'ApiError', status: 401 })
  })

  test('puts each id into one part of the path', async () => {
    const read = client.get(pool, { params: { id: '../pools?x#y' } })
    await expect(read).rejects.toMatchObject({ status: 404, path: `${pools}/..%2Fpools%3Fx%23y` })
  })

  test('says which address does not answer', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`
    const error = await createClient({ baseUrl })
      .get(pools)
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(Unreachable)
    expect((error as Error).message).toContain(`GET ${pools}: ${baseUrl} does not answer`)
  })

  test('ends with the reason of its signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(client.get(pools, { signal })).rejects.toThrow('enough')
  })

  test('waits as long as a 429 or 503 says, where it may be repeated', async () => {
    const asked: number[] = []
    const counting: typeof fetch = async (...args) => {
      const response = await fetch(...args)
      asked.push(response.status)
      return response
    }
    const eager = world.clientOf({ fetch: counting })
    const ask = (isRepeatable: boolean): Promise<unknown> => {
      const given = { body: { name: 'www.example.com.' }, isRepeatable }
      return eager.post('/api/v1/simulate', given).catch((error: unknown) => error)
    }
    await ask(false)
    expect(await ask(false)).toMatchObject({ status: 429 })
    expect(await ask(true)).toMatchObject({ status: 404 })
    expect(asked.splice(0)).toEqual([404, 429, 429, 404])
    world.isBusy = true
    const sinceMs = performance.now()
    const answered = ask(true)
    await waitUntil('the 503', async () => asked.includes(503))
    world.isBusy = false
    expect(await answered).toMatchObject({ status: 404 })
    expect(performance.now() - sinceMs).toBeGreaterThan(1_000)
    expect(asked.slice(-2)).toEqual([503, 404])
  })
})

describe('pages', () => {
  const names = Array.from({ length: 7 }, (_, i) => `paged-${i}`)
  let ids: string[]
  beforeAll(async () => {
    ids = []
    for (const name of names) ids.push(await newPool(name))
  })
  afterAll(async () => {
    for (const id of ids) await client.delete(pool, { params: { id } })
  })

  test('give every entry once, in order, whatever the length of a page', async () => {
    for (const limit of [1, 3, 7, 100]) {
      const found: string[] = []
      for await (const { name } of entries(client, pools, { query: { limit } })) found.push(name)
      expect(found, `limit ${limit}`).toEqual(names)
    }
  })

  test('give what stays once, while others go and come', async () => {
    const made: string[] = []
    const found: string[] = []
    for await (const page of pages(client, pools, { query: { limit: 2 } })) {
      found.push(...page.map(({ name }) => name))
      if (made.length > 0) continue
      // One of the page that was given, and one of those to come.
      await client.delete(pool, { params: { id: ids[0]! } })
      await client.delete(pool, { params: { id: ids[4]! } })
      made.push(await newPool('later'))
    }
    expect(found.filter((name) => name !== 'later')).toEqual(names.filter((_, i) => i !== 4))
    for (const id of made) await client.delete(pool, { params: { id } })
    for (const at of [0, 4]) ids[at] = await newPool(names[at]!)
  })

  test('are asked for when they are wanted', async () => {
    for await (const page of pages(client, pools, { query: { limit: 2 } })) {
      expect(page.map(({ name }) => name)).toEqual(names.slice(0, 2))
      break
    }
  })

  test('end with an error after so many, not silently', async () => {
    const all = async (): Promise<void> => {
      const options = { query: { limit: 2 }, pagesMax: 3 }
      for await (const page of pages(client, pools, options)) expect(page.length).toBeGreaterThan(0)
    }
    await expect(all()).rejects.toThrow('/api/v1/pools: more than 3 pages; raise `pagesMax`')
  })
})

describe('an update', () => {
  test('is made again on what somebody else wrote meanwhile', async () => {
    const id = await newPool('contested')
    const seen: string[] = []
    let others = 1
    const foreign = async (): Promise<void> => {
      await client.patch(pool, { params: { id }, body: { name: `foreign-${others}` } })
    }
    const slow = racing(world, async () => {
      if (others-- > 0) await foreign()
    })
    const done = await update(slow, pool, { params: { id } }, ({ name }) => {
      seen.push(name)
      return { name: `${name}-and-mine` }
    })
    expect(seen).toEqual(['contested', 'foreign-0'])
    expect(done.body.name).toBe('foreign-0-and-mine')
    await client.delete(pool, { params: { id } })
  })

  test('that always comes too late ends with the 412, after its tries', async () => {
    const id = await newPool('lost')
    let count = 0
    const late = racing(world, async () => {
      await client.patch(pool, { params: { id }, body: { name: `lost-${++count}` } })
    })
    const options = { params: { id }, tries: 2 }
    const error = await update(late, pool, options, () => ({ name: 'mine' })).catch(
      (e: unknown) => e,
    )
    expect(error).toBeInstanceOf(ChangedMeanwhile)
    expect(error).toMatchObject({ status: 412 })
    expect((error as Error).message).toMatch(/\w+ \w+ \w+/)
    expect(count).toBe(2)
    await client.delete(pool, { params: { id } })
  })

  test('that wants nothing writes nothing', async () => {
    const id = await newPool('right')
    const before = world.world.git('rev-parse', 'main')
    const { body } = await update(client, pool, { params: { id } }, () => undefined)
    expect(body.name).toBe('right')
    expect(world.world.git('rev-parse', 'main')).toBe(before)
    await client.delete(pool, { params: { id } })
  })
})

test('an object that has not changed is not given again', async () => {
  const id = await newPool('watched')
  const { etag } = await client.get(pool, { params: { id } })
  expect(await readIfChanged(client, pool, etag, { params: { id } })).toBeUndefined()
  await client.patch(pool, { params: { id }, body: { name: 'watched-2' } })
  const changed = await readIfChanged(client, pool, etag, { params: { id } })
  expect(changed?.body.name).toBe('watched-2')
  await client.delete(pool, { params: { id } })
})

/** A client before each of whose patches something else happens. */
function racing({ clientOf }: ClientWorld, meanwhile: () => Promise<void>): Client {
  return clientOf({
    fetch: async (input, init) => {
      if (init?.method === 'PATCH') await meanwhile()
      return fetch(input, init)
    },
  })
}
