import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { cpuPerQuery, cpuTime, processTree, residentBytes } from '#bench/support/process-cpu.ts'

test('the CPU time of a process counts its threads and the processes below it', async () => {
  // Two of them work, a shell above them waits.
  const burn = `const t = Date.now(); while (Date.now() - t < 300); console.log('done');
    setInterval(() => 0, 1e6)`
  const shell = `"$0" -e "${burn}" & "$0" -e "${burn}" & wait`
  const child = spawn('sh', ['-c', shell, process.execPath], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    for (const pid of processTree(child.pid!)) process.kill(pid, 'SIGKILL')
  })
  let printed = ''
  while (printed.split('done').length < 3) {
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
    printed += chunk.toString()
  }
  expect(processTree(child.pid!)).toHaveLength(3)
  const { totalNs, userTicks } = cpuTime(child.pid!)
  // Together at least a tenth of what they would get on idle cores.
  expect(totalNs).toBeGreaterThan(60e6)
  expect(userTicks).toBeGreaterThan(0)
  expect(residentBytes(child.pid!).now).toBeGreaterThan(0)
})

test('CPU per query divides the difference, and splits it as the ticks say', () => {
  const before = { totalNs: 1e9, userTicks: 10, systemTicks: 20 }
  const after = { totalNs: 2e9, userTicks: 35, systemTicks: 95 }
  expect(cpuPerQuery(before, after, 100_000)).toEqual({
    totalMicros: 10,
    userMicros: 2.5,
    systemMicros: 7.5,
  })
})
