import { createApp, createSSRApp } from 'vue';
import * as c from './common.js';

createApp({
  data: () => ({ c, name: '', query: '', found: [], top: 0, said: '', open: false, items: ['Apple', 'Birch', 'Cedar'], picking: false, date: '', count: 0, tags: [], loaded: 10, path: '/', agreed: false }),
  created() { this.late = c.debounce(() => (this.found = c.search(this.query)), 150); },
  mounted() {
    const end = this.$refs.end;
    new IntersectionObserver(([it]) => it.isIntersecting && (this.loaded = Math.min(this.loaded + 10, 40)), { root: end.parentElement }).observe(end);
  },
  methods: {
    go(to) { history.pushState(0, '', '#' + to); this.path = to; },
    drop(e, item) { const to = c.itemAt(e.clientX, e.clientY); if (to && to !== item) this.items = c.moved(this.items, item, to); },
  },
  template: `<main>
    <p role="status">{{ said }}</p>
    <label>Name <input :value="name" @input="name = $event.target.value.toUpperCase(); $event.target.value = name"></label>
    <p>Hello {{ name }}</p>
    <label><input type="checkbox" v-model="agreed"> Agree</label>
    <button :disabled="!agreed" @click="said = 'sent'">Send</button>
    <input type="search" aria-label="City" v-model="query" @input="late">
    <ul aria-label="Cities"><li v-for="city in found" :key="city"><button @click="said = 'city ' + city">{{ city }}</button></li></ul>
    <div role="region" aria-label="Rows" class="window" @scroll="top = $event.target.scrollTop">
      <div :style="{ height: c.ROWS * c.ROW_PX + 'px', position: 'relative' }">
        <div role="list" :style="{ position: 'absolute', top: c.windowAt(top)[0] * c.ROW_PX + 'px' }">
          <div class="row" role="listitem" v-for="(row, slot) in c.windowAt(top)" :key="slot"><span>Row {{ row }}</span><button @click="said = 'picked row ' + row">Pick</button></div>
        </div>
      </div>
    </div>
    <button @click="open = true">Open dialog</button>
    <teleport to="body"><div v-if="open" role="dialog" aria-label="Sure?"><button @click="open = false; said = 'confirmed'">Confirm</button></div></teleport>
    <ol aria-label="Trees"><li v-for="item in items" :key="item" :data-item="item"><button class="handle" @pointerdown="$event.target.setPointerCapture($event.pointerId)" @pointerup="drop($event, item)">{{ item }}</button></li></ol>
    <label>Date <input readonly :value="date"></label>
    <button @click="picking = !picking">Choose date</button>
    <div v-if="picking" role="group" aria-label="February"><button v-for="day in c.DAYS" :key="day" :aria-label="day" @click="date = day; picking = false">{{ +day.slice(8) }}</button></div>
    <div contenteditable role="textbox" aria-label="Essay" @input="count = c.words($event.currentTarget.innerText)"></div>
    <p>{{ count }} words</p>
    <label>Tags <select multiple v-model="tags"><option v-for="it in ['red', 'green', 'blue']" :key="it">{{ it }}</option></select></label>
    <p>Tags: {{ tags.join('+') }}</p>
    <label>Attach <input type="file" @change="said = 'file ' + $event.target.files[0].name"></label>
    <div role="region" aria-label="Feed" class="window"><p v-for="n in loaded" :key="n">Story {{ n - 1 }}</p><div ref="end">…</div></div>
    <nav><a href="#/" @click.prevent="go('/')">Start</a> <a href="#/about" @click.prevent="go('/about')">About</a></nav>
    <h2 v-if="path === '/about'">About us</h2><h2 v-else>Start here</h2>
  </main>`,
}).mount('#app');

setTimeout(() => createSSRApp({
  data: () => ({ n: 5, ready: false }),
  mounted() { this.ready = true; },
  template: '<button @click="n++">Add to {{ n }}</button><p v-if="ready">hydrated</p>',
}).mount('#late'), c.HYDRATION_MS);
