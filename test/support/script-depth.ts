// A thread like a script helper's: runs endless nesting, and reports what broke the engine.
import { parentPort } from 'node:worker_threads'
import { loadScriptEngine } from '#routing/script/engine.ts'
import { scriptQuestion } from './script-question.ts'

const bodies = [
  ...['(', '[', '{', 'a=>', 'x=', '-', 'a?', 'new ', '`${', 'function f(){', 'if(1)'].map(
    (part) => `eval(${JSON.stringify(part)}.repeat(50000))`,
  ),
  'JSON.parse("[".repeat(1e5))',
  'new RegExp("(?:".repeat(5e4) + "a" + ")".repeat(5e4))',
  'let o = {}; for (let i = 0; i < 1e4; i++) o = { o }; JSON.stringify(o)',
  'let x = []; for (let i = 0; i < 1e4; i++) x = [x]; x.flat(Infinity)',
  'let x = []; for (let i = 0; i < 1e4; i++) x = [x]; result = x.toString()',
  'let p = new Proxy({}, {}); for (let i = 0; i < 1e4; i++) p = new Proxy(p, {}); p.x',
  'const x = function* () { yield* x() }; [...x()]',
]

const empty = scriptQuestion({ candidates: [], client: {}, qname: '', qtype: '', now: 0 })
const broken: string[] = []
let engine = await loadScriptEngine()
for (const body of bodies) {
  engine.run(body, empty)
  if (!engine.isBroken) continue
  broken.push(body)
  engine = await loadScriptEngine()
}
parentPort?.postMessage(broken)
