// Each view registers itself here under the name that stands in the address:
// {title, mount(section): builds its fields once, update(state): shows what the address says}.
window.torchspeed.views = {};
