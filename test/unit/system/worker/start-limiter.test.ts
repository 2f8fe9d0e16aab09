import { expect, test } from 'vitest'
import { StartLimiter } from '#system/worker/start-limiter.ts'

const fail = (error: unknown): never => {
  throw error
}

/** Starts that end when they are told to. */
class Starts {
  readonly begun: number[] = []
  readonly #ends: (() => void)[] = []

  addTo(limiter: StartLimiter, count: number): void {
    for (let i = 0; i < count; i++) {
      const start = (): Promise<void> => {
        this.begun.push(i)
        return new Promise((resolve) => this.#ends.push(resolve))
      }
      limiter.add(start, fail)
    }
  }

  async end(start: number): Promise<void> {
    this.#ends[start]?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('so many start at once, the next ones as those are ready, in their order', async () => {
  const starts = new Starts()
  starts.addTo(new StartLimiter(2), 5)
  expect(starts.begun).toEqual([0, 1])
  await starts.end(1)
  expect(starts.begun).toEqual([0, 1, 2])
  await starts.end(0)
  await starts.end(2)
  expect(starts.begun).toEqual([0, 1, 2, 3, 4])
})

test('waiting starts can be cancelled, and later ones do not begin either', async () => {
  const starts = new Starts()
  const limiter = new StartLimiter(2)
  starts.addTo(limiter, 4)
  limiter.callOff()
  await starts.end(0)
  await starts.end(1)
  starts.addTo(limiter, 1)
  expect(starts.begun).toEqual([0, 1])
})

const failures = {
  'throws at once': () => {
    throw new Error('no thread to be had')
  },
  'is rejected': () => Promise.reject(new Error('no thread to be had')),
}

for (const [how, start] of Object.entries(failures)) {
  test(`a start that ${how} is told, and gives its turn to the next one`, async () => {
    const limiter = new StartLimiter(1)
    const told: unknown[] = []
    limiter.add(start, (error) => void told.push(error))
    const starts = new Starts()
    starts.addTo(limiter, 1)
    await starts.end(0)
    expect(told).toEqual([new Error('no thread to be had')])
    expect(starts.begun).toEqual([0])
  })
}
